"""A run that goes on is told live, to many, from files alone."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.results.attempts import note_began
from benchyard.results.folders import LOG_FILE, RAW_FILE, run_folder
from benchyard.web.pages import live
from benchyard.web.pages.live import LiveLog, LiveRun, LiveRuns
from tests.benchyard.web.runs_on_disk import BEGAN, client_of, make_run
from tests.conftest import eventually, process

TITLE = "case 'x' <b> run 9 step 3 y: started"


def event(told: bytes) -> tuple[str, Any]:
    kind, data = told.decode().strip().split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def next_event(events: AsyncIterator[bytes]) -> tuple[str, Any]:
    """Return the next event; on a busy host heartbeats come before it."""
    while (told := await anext(events)).startswith(b":"):
        pass
    return event(told)


async def all_of(events: AsyncIterator[bytes]) -> list[tuple[str, Any]]:
    return [event(one) async for one in events if not one.startswith(b":")]


# -- the log


def log_line(second: int, text: str) -> str:
    return f"2026-11-25 08:00:{second:02d},500 INFO words run 1{text}\n"


def test_log_tells_of_steps(tmp_path: Path) -> None:
    file = tmp_path / LOG_FILE
    log = LiveLog(tmp_path, "words")
    assert not log.look()
    file.write_text(log_line(0, ": 2 steps") + log_line(1, " step 1 lo: ad: started"))
    assert log.look()
    with file.open("a") as stream:
        stream.write(log_line(2, " step 1 lo: ad: attempt failed, 1 more attempt: x"))
        stream.write(log_line(3, " step 1 lo: ad: ✓ completed 1.0 s"))
        stream.write(log_line(4, " step 2 q: started") + "2026-11-25 08:00:05,500 INFO half a li")
    assert log.look()
    log.close()
    first, second = log.steps.values()
    assert (first["name"], first["outcome"], first["failed_attempts"]) == ("lo: ad", "completed", 1)
    assert (first["start_s"], first["end_s"]) == (1.0, 3.0)
    assert (second["name"], second["outcome"], second["end_s"]) == ("q", "under way", None)
    assert not any("half" in line for line in log.lines)


@pytest.mark.parametrize("text", ["\x1b[31m", "\0" * 10, "no log at all", "x" * 100_000])
def test_log_may_hold_anything(tmp_path: Path, text: str) -> None:
    (tmp_path / LOG_FILE).write_text(f"{text}\n{log_line(0, text)}{text}\n")
    log = LiveLog(tmp_path, "words")
    log.look()
    log.close()
    assert not any("\x1b" in line for line in log.lines)


# -- the end


def test_a_finished_run_ends_at_once(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "results", 1)
    client, ident = client_of(folder)
    answer = client.get(f"/run/{ident}/live")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert event(answer.content) == ("end", {"outcome": "completed"})


def test_a_run_whose_process_is_gone_ends(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "results", 1)
    folder.mkdir(parents=True)
    note = (
        "import sys; from pathlib import Path; from benchyard.results.attempts import note_began; "
        f"note_began(Path(sys.argv[1]), 'words', 1, '{BEGAN}', {{}})"
    )
    subprocess.run([sys.executable, "-c", note, folder.parent], check=True)
    run = LiveRun(folder)
    assert run.look()["end"]["outcome"] is None
    run.close()


def test_a_viewer_who_leaves_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_S", 0.05)
    folder = run_folder(tmp_path / "results", 1)
    folder.mkdir(parents=True)
    note_began(folder.parent, "words", 1, BEGAN, {})
    (folder / RAW_FILE).touch()
    (folder / LOG_FILE).write_text(log_line(0, ": 1 step"))

    async def watch() -> None:
        runs = LiveRuns()
        one, other = runs.events(folder), runs.events(folder)
        assert (await next_event(one))[0] == "log"
        assert (await next_event(one))[0] == "steps"
        assert (await next_event(other))[0] == "log"
        assert (await anext(one)).startswith(b":")
        assert len(asyncio.all_tasks()) == 2
        await one.aclose()
        assert [*runs.watched] == [folder]
        await other.aclose()
        assert not runs.watched
        await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(watch())


# -- a real run


@pytest.fixture
def under_way(tmp_path: Path) -> Generator[tuple[subprocess.Popen[bytes], Path]]:
    """A case while it is executed; the folder of its run."""
    case = tmp_path / "case"
    (case / "data" / "shared").mkdir(parents=True)
    steps = [
        process("spin", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 1.5"),
        process("fails", "exit 3", may_fail=True),
        process("sleep", "sleep 2"),
    ]
    document = {"@id": "urn:test:live", "name": TITLE, "steps": steps}
    (case / "metadata.json").write_text(json.dumps(document))
    program = Path(sys.executable).with_name("benchyard")
    command = [program, "run", case, "--direct", "--cooldown", "0", "--runs", "1"]
    executing = subprocess.Popen(
        [*command, "--interval", "0.05"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    folder = run_folder(case / "results", 1)
    try:
        assert eventually((folder / RAW_FILE).is_file, 60)
        yield executing, folder
    finally:
        executing.terminate()
        executing.wait(60)


@pytest.mark.slow
def test_a_run_is_told_while_it_goes_on(
    under_way: tuple[subprocess.Popen[bytes], Path],
) -> None:
    executing, folder = under_way

    async def watch() -> list[list[tuple[str, Any]]]:
        runs = LiveRuns()
        return await asyncio.gather(*(all_of(runs.events(folder)) for _ in range(5)))

    heard = asyncio.run(asyncio.wait_for(watch(), 120))
    executing.wait(60)
    for told in heard:
        assert told[-1] == ("end", {"outcome": "completed"})
        curves = [value for kind, value in told if kind == "curves"]
        assert len(curves) > 1
        assert curves[0]["samples"] < curves[-1]["samples"]
        names = [line["name"] for panel in curves[-1]["panels"] for line in panel["lines"]]
        assert "Process" in names
        steps = [value for kind, value in told if kind == "steps"][-1]
        assert [(one["name"], one["outcome"]) for one in steps] == [
            ("spin", "completed"),
            ("fails", "tolerated"),
            ("sleep", "completed"),
        ]


def test_a_line_without_an_end_is_told_in_parts(tmp_path: Path) -> None:
    make_run(tmp_path, 1)
    folder = run_folder(tmp_path, 1)
    (folder / LOG_FILE).write_text("x" * (3 << 20))
    log = LiveLog(folder, "words")
    for _ in range(4):
        log.look()
    log.close()
    assert sum(map(len, log.lines)) >= 2 << 20
