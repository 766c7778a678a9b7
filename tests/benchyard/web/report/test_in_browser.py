"""A report in Debian's Chromium, offline: readable in light, dark and on a phone, and printed.

With BENCHYARD_PICTURES naming a folder, pictures of it are kept there.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.web.report.comparisons import ReportRequest
from benchyard.web.report.document import report_of
from tests.benchyard.analysis.comparison.conftest import run, run_set, step
from tests.benchyard.web.test_in_browser import LOOKS, RULES, complaints, keep_picture
from tests.exploring import surfing

pytestmark = [pytest.mark.slow, pytest.mark.requires("chromium")]

_HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> " + "long" * 30


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a report with everything that one may have; return its address."""
    records = [
        run(
            n,
            step(1.0 + n / 100, name="load", index=1),
            step(0.1 * n, name=_HOSTILE, index=2, suspect=[_HOSTILE] if n == 3 else []),
            preflight=({"check": "turbo", "status": "warn", "finding": _HOSTILE},),
        )
        for n in range(1, 59)
    ]
    records.append(run(59, step(name="load", index=1, outcome=Outcome.FAILED)))
    made = report_of([("here", run_set(records))], ReportRequest(command=_HOSTILE))
    assert "<details>" in made.html
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(made.html)
    return file.as_uri()


@pytest.mark.parametrize("look", RULES)
def test_it_opens_offline_and_complains_of_nothing(look: str, report: str) -> None:
    with surfing("", offline=True, **LOOKS[look]) as surfer:
        surfer.page.goto(report)
        assert surfer.width_of_content() <= LOOKS[look]["viewport"]["width"]
        assert surfer.page.locator("img, iframe, script:not([type])").count() == 0
        assert not complaints(surfer.page, {})
        assert not surfer.trouble
        keep_picture(surfer, "report", look)


def test_it_reads_without_script(report: str) -> None:
    with surfing("", offline=True, java_script_enabled=False) as surfer:
        surfer.page.goto(report)
        assert "1 run failed" in surfer.page.inner_text(".verdict")
        assert surfer.page.locator("figure svg").count() == 3


def test_paper_is_light_and_has_what_is_folded(report: str, tmp_path: Path) -> None:
    with surfing("", offline=True, **LOOKS["dark"]) as surfer:
        surfer.page.goto(report)
        surfer.page.emulate_media(media="print")
        paper = surfer.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        surfer.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    program = shutil.which("pdftotext")
    if program:
        subprocess.run([program, "-layout", "report.pdf"], cwd=tmp_path, check=True)
        said = (tmp_path / "report.txt").read_text()
        assert "tpch/run_58/run.json" in said
