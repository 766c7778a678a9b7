"""Oxigraph, a SPARQL server in one small program."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from resources._containers import Specification
from resources._http_store import HttpStore
from resources._readiness import HttpUrl, Readiness


class Oxigraph(HttpStore):
    """Oxigraph with its database on disk: ``http://Oxigraph:7878/query`` answers queries."""

    _image: ClassVar[str] = "oxigraph/oxigraph:0.5.13"
    _serves: ClassVar[Sequence[int]] = (7878,)
    _data: ClassVar[str] = "/data"
    _port: ClassVar[int] = 7878
    _load_path: ClassVar[str] = "/store?default"

    def _specification(self) -> Specification:
        spec = super()._specification()
        bind = f"0.0.0.0:{self._port}"
        return replace(spec, command=("serve", "--location", self._data, "--bind", bind))

    def _readiness(self) -> Sequence[Readiness]:
        return (HttpUrl(self._port, "/query?query=ASK%7B%7D"),)
