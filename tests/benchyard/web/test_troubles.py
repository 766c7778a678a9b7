"""Whatever is asked, the answer is a page or a document, and never a fault of ours."""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi import checks as conformance

from benchyard.catalogue.catalogue import Catalogue
from benchyard.core.errors import RecordError
from benchyard.web.app import make_app
from benchyard.web.explorer import Explorer
from tests.benchyard.catalogue.making import put_run
from tests.benchyard.web.site import Site


def test_what_is_not_there_is_a_page_or_a_document(tmp_path: Path) -> None:
    site = Site(tmp_path)
    assert "There is nothing at this address." in site.page("/nowhere", 404)
    assert site.client.get("/nowhere.json").json() == {"error": "there is nothing at this address"}
    by_accept = site.client.get("/nowhere", headers={"Accept": "application/json"})
    assert by_accept.json() == {"error": "there is nothing at this address"}
    assert site.text("/nowhere.csv", 404) == "there is nothing at this address\n"


def test_a_fault_of_ours_tells_nothing_of_the_inside(tmp_path: Path) -> None:
    app = make_app(Explorer(Catalogue([tmp_path], tmp_path / "index.sqlite")))

    def fails(kind: str) -> None:
        if kind == "record":
            raise RecordError("run.json is <damaged>")
        raise RuntimeError("a secret of the program")

    app.add_api_route("/fails/{kind}", fails, methods=["GET"])
    asking: Any = TestClient(app, raise_server_exceptions=False)
    answer = asking.get("/fails/program")
    assert answer.status_code == 500
    assert "fault of Benchyard" in answer.text
    assert "secret" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    deliberate = asking.get("/fails/record")
    assert deliberate.status_code == 404
    assert "Run.json is &lt;damaged&gt;." in deliberate.text


def test_the_api_page_lists_what_openapi_offers(tmp_path: Path) -> None:
    site = Site(tmp_path)
    page = site.page("/api")
    assert all(path in page for path in site.json("/openapi.json")["paths"])
    assert "case {case_id} history as a picture (SVG)" in page


def test_openapi_names_fields_media_types_and_errors_as_they_are(tmp_path: Path) -> None:
    put_run(tmp_path / "tpch" / "results")
    site = Site(tmp_path)
    paths = site.json("/openapi.json")["paths"]
    case = site.case("tpch")
    for path in ("/runs.csv", "/compare/ratio.svg", "/case/{case_id}/steps.csv", "/changes.json"):
        answer = site.client.get(path.replace("{case_id}", case))
        told = paths[path]["get"]["responses"]["200" if answer.status_code == 200 else "4XX"]
        assert answer.headers["content-type"].partition(";")[0] in told["content"]
    names = {one["name"] for one in paths["/compare/ratio.svg"]["get"]["parameters"]}
    assert {"side", "reference", "level", "width"} <= names
    assert "given" not in names


@pytest.mark.slow
def test_no_query_that_the_api_describes_or_forbids_is_a_fault(tmp_path: Path) -> None:
    for run in (1, 2, 3):
        put_run(tmp_path / "tpch" / "results", run, point={"threads": run})
    app = make_app(Explorer(Catalogue([tmp_path], tmp_path / "index.sqlite")))
    schema: Any = schemathesis.openapi.from_asgi("/openapi.json", app)

    for operation in schema.get_all_operations():
        _ask(operation.ok().as_strategy())


def _ask(cases: Any) -> None:
    @settings(
        max_examples=6,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.data_too_large,
        ],
    )
    @given(case=cases)
    def ask(case: Any) -> None:
        answer = case.call()
        assert answer.status_code < 500, case.as_curl_command()
        given: Any = conformance
        checks = [
            given.content_type_conformance,
            given.response_schema_conformance,
            given.status_code_conformance,
        ]
        case.validate_response(answer, checks=checks)

    ask()
