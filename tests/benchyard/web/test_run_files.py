"""Files of a run: all that lie in its folder, and no other, whatever is asked for."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError
from benchyard.results.folders import LOG_FILE
from benchyard.web.runs import log_tail, open_in, plain_text
from tests.benchyard.web.runs_on_disk import client_of, make_run

ELSEWHERE = "outside"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with an output, and with everything that leads out of it."""
    root = tmp_path_factory.mktemp("root")
    (root / "secret.txt").write_text(ELSEWHERE)
    folder = make_run(root / "results", 1)
    outputs = folder / "process"
    outputs.mkdir()
    (outputs / "<i>out &.html").write_text("<script>alert(1)</script>")
    (outputs / "bytes").write_bytes(b"\0\1\2")
    (outputs / "link").symlink_to(outputs / "bytes")
    (outputs / "away").symlink_to(root / "secret.txt")
    (outputs / "up").symlink_to(root)
    (outputs / "loop").symlink_to(outputs / "loop")
    (folder / ".work").mkdir()
    (folder / ".work" / "secret.txt").write_text(ELSEWHERE)
    (outputs / "to-work").symlink_to(folder / ".work" / "secret.txt")
    os.mkfifo(outputs / "pipe")
    return folder


_PARTS = st.sampled_from(
    ["..", ".", "", "process", "up", "away", "secret.txt", ".work", "link", "pipe", "results", "\0"]
)


@given(st.one_of(st.lists(_PARTS, max_size=8).map("/".join), st.text(max_size=40)))
def test_nothing_outside_is_ever_opened(run: Path, path: str) -> None:
    try:
        with open_in(run, path) as stream:
            opened = Path(f"/proc/self/fd/{stream.fileno()}").readlink()
            assert ELSEWHERE.encode() not in stream.read()
    except InputError:
        return
    assert opened.is_relative_to(run)
    assert not opened.is_relative_to(run / ".work")


def test_links_within_the_run_are_followed(run: Path) -> None:
    with open_in(run, "process/link") as stream:
        assert stream.read() == b"\0\1\2"


def test_markup_is_sent_as_text_and_bytes_as_a_download(run: Path) -> None:
    client, ident = client_of(run)
    page = client.get(f"/run/{ident}/file/process/%3Ci%3Eout%20%26.html")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/plain; charset=utf-8"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert page.text == "<script>alert(1)</script>"
    raw = client.get(f"/run/{ident}/file/process/bytes")
    assert raw.headers["content-type"] == "application/octet-stream"
    assert raw.headers["content-disposition"] == "attachment; filename*=UTF-8''bytes"
    assert raw.content == b"\0\1\2"


_NOT_FOUND = [
    *("%2e%2e/%2e%2e/secret.txt", "process/..%2f..%2f..%2fsecret.txt", "process/away"),
    *("process%2Fup%2Fsecret.txt", "%2Fetc%2Fpasswd", "process/bytes%00.txt", ".work/secret.txt"),
    *("process/pipe", "process/loop", "process/to-work", "process", "./.work/secret.txt"),
    *("not/there", "x" * 5000, "process/bytes/more"),
]


@pytest.mark.parametrize("path", _NOT_FOUND)
def test_addresses_that_lead_out_are_not_found(run: Path, path: str) -> None:
    client, ident = client_of(run)
    answer = client.get(f"/run/{ident}/file/{path}")
    assert answer.status_code == 404
    assert ELSEWHERE not in answer.text
    assert "root:" not in answer.text


def test_of_a_run_without_record_only_our_own_files_are_given(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("a secret that nobody took out")
    (tmp_path / LOG_FILE).write_text("begun\n")
    open_in(tmp_path, LOG_FILE).close()
    with pytest.raises(InputError):
        open_in(tmp_path, "out.txt")


# -- logs


def test_a_long_log_shows_its_end(run: Path) -> None:
    lines = [f"line {number} \x1b[31mred\x1b[0m\n" for number in range(20_000)]
    (run / LOG_FILE).write_text("".join(lines))
    tail, before = log_tail(run, LOG_FILE)
    assert tail.splitlines() == [f"line {number} red" for number in range(19_800, 20_000)]
    assert before == sum(map(len, lines[:19_800]))
    client, ident = client_of(run)
    whole = client.get(f"/run/{ident}/log")
    assert whole.text == "".join(f"line {number} red\n" for number in range(20_000))
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_line_without_an_end_is_no_trouble(run: Path) -> None:
    (run / LOG_FILE).write_text("x" * 300_000)
    client, ident = client_of(run)
    assert client.get(f"/run/{ident}/log").text == "x" * 300_000
    assert len(log_tail(run, LOG_FILE)[0]) <= 1 << 16
    assert log_tail(run.parent, LOG_FILE) == ("", 0)


@given(st.text())
def test_no_escape_sequence_reaches_the_page(text: str) -> None:
    shown = plain_text(text + "\x1b[1mbold\x1b]8;;http://evil.invalid\x07link\x1b]8;;\x07\x9b31m")
    assert "\x1b" not in shown
    assert all(c.isprintable() or c in "\n\t" for c in shown)


def test_the_application_only_reads(run: Path) -> None:
    client, ident = client_of(run)
    before = sorted(run.rglob("*"))
    for path in ("", ".json", "/log", "/steps.csv", "/curves.json"):
        client.get(f"/run/{ident}{path}")
    assert sorted(run.rglob("*")) == before
