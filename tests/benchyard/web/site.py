"""The explorer over some folders, asked without a port."""

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

from fastapi.testclient import TestClient

from benchyard.catalogue.catalogue import Catalogue
from benchyard.web.app import make_app
from benchyard.web.explorer import Explorer


class Site:
    """An application over one root."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.catalogue = Catalogue([root])
        app = make_app(Explorer(self.catalogue, **settings))
        self.client: Any = TestClient(app, base_url="http://localhost")

    def case(self, part: str) -> str:
        """Return the id of the case whose results folder has this in its path."""
        [found] = [case.id for case in self.catalogue.cases() if part in case.path]
        return found

    def get(self, address: str, status: int = 200) -> Any:
        """Return an answer."""
        answer = self.client.get(address)
        assert answer.status_code == status, answer.text
        return answer

    def page(self, address: str, status: int = 200) -> str:
        """Return a page."""
        answer = self.get(address, status)
        assert answer.headers["content-type"].startswith("text/html")
        return answer.text

    def json(self, address: str, status: int = 200) -> Any:
        """Return a document."""
        return self.get(address, status).json()

    def text(self, address: str, status: int = 200) -> str:
        """Return an answer of any kind."""
        return self.get(address, status).text

    def words(self, address: str, status: int = 200) -> str:
        """Return the words of a picture, which is an SVG."""
        answer = self.get(address, status)
        assert answer.headers["content-type"] == "image/svg+xml"
        root = fromstring(answer.text)  # noqa: S314 - it is our own
        return " ".join(" ".join(root.itertext()).split())
