"""What the catalogue costs: 100,000 runs indexed, paged, searched, sorted and watched.

Beside it stand the floors: the same pages asked by key, the folders walked, the records read. And
MindInsight's way of listing its summary folders, made anew here: every call looks at every file.
``--folder`` names where the runs are made (9 GB), and where they are found the next time.
"""

import argparse
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import orjson
import psutil

from benchmarks.generated_runs import make_runs, make_summaries, put_run
from benchmarks.table import Figure, Size, run_program
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import Condition, EntryQuery, Operator
from benchyard.results.folders import DONE, RUN_FILE

RUNS, SUMMARIES, TIMES = 100_000, 10_000, 30
FIRST_SECONDS, PAGE_SECONDS, FILTER_SECONDS, NEW_SECONDS, MEGABYTES = 60.0, 0.001, 0.1, 2.0, 250.0
#: Jobs after which MindInsight stops. Source: SummaryWatcher.MAX_SUMMARY_DIR_COUNT.
_MOST_JOBS = 999
_SUMMARY = re.compile(r"summary\.(?P<timestamp>\d+)")
_LOOK = """
import resource, sys, time
from pathlib import Path
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import EntryQuery
catalogue = Catalogue([Path(sys.argv[1])], Path(sys.argv[2]))
if "watch" in sys.argv:
    with catalogue.watching():
        for offset in range(0, 100_000, 1000):
            catalogue.page(EntryQuery(offset=offset, limit=50))
        time.sleep(2)
used = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss, which a child has of its parent.
peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(used.ru_utime + used.ru_stime, int(peak[0]) / 1e3)
"""


def measure(size: Size, folder: Path | None) -> list[Figure]:
    """Measure all of it."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as name:
        working = Path(name)
        home = folder or working
        runs = make_runs(home, size.of(RUNS, 2_000))
        index = working / "index.sqlite"
        figures = [*_first_look(runs, index, working)]
        with _opened(runs, index) as catalogue:
            figures += _later_looks(catalogue)
            figures += _pages(catalogue, index)
            figures += _new_runs(catalogue)
        figures += _memory(runs, index)
        return [*figures, *_beside_mindinsight(home, working, size)]


@contextmanager
def _opened(root: Path, index: Path) -> Generator[Catalogue]:
    with closing(Catalogue([root], index)) as catalogue:
        yield catalogue


def _seconds(work: Callable[[], object], times: int = TIMES) -> list[float]:
    return [_timed(work) for _ in range(times)]


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# -- looking


def _first_look(runs: Path, index: Path, working: Path) -> Iterator[Figure]:
    walked = _timed(lambda: _walked(runs))
    read = _timed(lambda: [file.read_bytes() for file in runs.rglob(RUN_FILE)] and None)
    start = time.perf_counter()
    cpu, _ = _look(runs, index)
    count = _count(index)
    yield Figure(
        f"first look at {count:,} runs", [time.perf_counter() - start], limit=FIRST_SECONDS
    )
    yield Figure("  of that, CPU time", [cpu])
    yield Figure("  every folder walked, every file's state", [walked])
    yield Figure("  every record's bytes read, nothing decoded", [read])
    yield Figure("  index, MB", [index.stat().st_size / 1e6], "")
    yield from _killed(runs, working / "killed.sqlite", count)


def _walked(root: Path) -> int:
    walked = os.walk(root)
    return sum(os.stat(f"{folder}/{name}").st_size for folder, _, names in walked for name in names)  # noqa: PTH116


def _look(runs: Path, index: Path, *options: str) -> tuple[float, float]:
    """Look in a process of its own; return its CPU seconds, and its largest memory in MB."""
    command = [sys.executable, "-c", _LOOK, str(runs), str(index), *options]
    cpu, megabytes = subprocess.check_output(command, encoding="utf-8").split()
    return float(cpu), float(megabytes)


def _count(index: Path) -> int:
    try:
        with closing(sqlite3.connect(index)) as connection:
            return connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def _killed(runs: Path, index: Path, count: int) -> Iterator[Figure]:
    """Kill a first look when a third is there, and look again."""
    start = time.perf_counter()
    command = [sys.executable, "-c", _LOOK, str(runs), str(index)]
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while _count(index) < count / 3 and started.poll() is None:
        time.sleep(0.05)
    started.send_signal(signal.SIGKILL)
    started.wait()
    killed = time.perf_counter() - start
    kept = _count(index)
    again = _timed(lambda: _look(runs, index))
    yield Figure("killed on its way, and begun again, together", [killed + again])
    yield Figure("  share of the runs that the kill left, %", [kept / count], "%")
    yield Figure("  runs missing in the end", [float(count - _count(index))], "", 0.0)


def _later_looks(catalogue: Catalogue) -> Iterator[Figure]:
    yield Figure("a look at all where nothing changed", _seconds(catalogue.refresh, 5))
    due = _seconds(lambda: catalogue.refresh_around(()))
    yield Figure("  at what is under way: nothing", due, "ms")


# -- pages


def _pages(catalogue: Catalogue, index: Path) -> Iterator[Figure]:
    count = catalogue.page(EntryQuery()).total
    middle = catalogue.page(EntryQuery(offset=count // 2))
    for what, query, limit in (
        ("page of 10, the first", EntryQuery(), PAGE_SECONDS),
        ("  the last", EntryQuery(offset=count - 10), PAGE_SECONDS),
        ("  by cursor, in the middle", EntryQuery(after=middle.next), PAGE_SECONDS),
        ("  by offset, in the middle", EntryQuery(offset=count // 2), None),
    ):
        yield Figure(what, _seconds(lambda query=query: catalogue.page(query)), "ms", limit)
    entry = middle.entries[0].id
    yield Figure("  one entry by its id", _seconds(lambda: catalogue.entry(entry)), "ms")
    yield Figure("  floor: ten rows by key, plain SQLite", _by_key(index), "ms")
    numbers = iter(range(10**6))
    yield Figure(
        f"filter and order by parameters, {count:,} runs",
        _seconds(lambda: catalogue.page(_filtered(next(numbers)))),
        "ms",
        FILTER_SECONDS,
    )
    for what, query in _QUERIES.items():
        yield Figure(
            f"  {what}", _seconds(lambda query=query: catalogue.page(query)), "ms", FILTER_SECONDS
        )
    yield Figure("  50 cases", _seconds(lambda: catalogue.cases(limit=50)), "ms")
    case = catalogue.cases(limit=1)[0].id
    yield Figure("  steps of all runs of a case", _seconds(lambda: catalogue.steps_of(case)), "ms")


def _filtered(number: int) -> EntryQuery:
    """Return a query that was not asked before: no total is remembered."""
    threshold = 300 + number / 7
    condition = Condition("sort.p007", Operator.AT_LEAST, threshold)
    return EntryQuery(parameters=(condition,), sort="-parameter:sort.p003")


_QUERIES = {
    "order by a parameter": EntryQuery(sort="parameter:sort.p100"),
    "words": EntryQuery(text="join scale=4"),
    "word of every run": EntryQuery(text="generated"),
    "failed, on one host, the longest first": EntryQuery(
        outcomes=("failed",), hosts=("bench-03",), sort="-duration"
    ),
}


def _by_key(index: Path) -> list[float]:
    with closing(sqlite3.connect(index)) as connection:
        ids = connection.execute("SELECT id FROM entries ORDER BY random() LIMIT 10").fetchall()
        asked = "SELECT * FROM entries WHERE id = ?"
        return _seconds(lambda: [connection.execute(asked, one).fetchone() for one in ids])


# -- one more run


def _new_runs(catalogue: Catalogue) -> Iterator[Figure]:
    newest = catalogue.page(EntryQuery(limit=1)).entries[0].place
    record = orjson.loads((newest / RUN_FILE).read_bytes())
    made: list[Path] = []

    def add() -> Path:
        record["run"] = 900 + len(made)
        folder = newest.parent / f"run_{record['run']}"
        put_run(folder, record, {DONE: b""})
        made.append(folder)
        return folder

    around: list[float] = []
    pages: list[float] = []
    for _ in range(5):
        folder = add()
        around.append(_timed(lambda folder=folder: catalogue.refresh_around([folder])))
        pages.append(_timed(lambda: catalogue.page(EntryQuery())))
    yield Figure("page of 10 just after one more run", pages, "ms", PAGE_SECONDS)
    yield Figure("  the look at that run alone", around, "ms")
    with catalogue.watching():
        yield Figure(
            "one more run is seen",
            [_until_seen(catalogue, add) for _ in range(5)],
            "s",
            NEW_SECONDS,
        )
        process = psutil.Process()
        before = process.cpu_times()
        time.sleep(5)
        after = process.cpu_times()
    busy = (after.user + after.system - before.user - before.system) / 5
    yield Figure("  watching while nothing happens, % of a core", [busy], "%")
    for folder in made:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _until_seen(catalogue: Catalogue, add: Callable[[], Path]) -> float:
    count = catalogue.page(EntryQuery()).total
    time.sleep(0.5)
    start = time.perf_counter()
    add()
    while catalogue.page(EntryQuery()).total == count and time.perf_counter() - start < 60:
        time.sleep(0.005)
    return time.perf_counter() - start


def _memory(runs: Path, index: Path) -> Iterator[Figure]:
    yield Figure(
        "memory of a process that pages and watches, MB",
        [_look(runs, index, "watch")[1]],
        "",
        MEGABYTES,
    )


# -- beside MindInsight


def _beside_mindinsight(home: Path, working: Path, size: Size) -> Iterator[Figure]:
    root = make_summaries(home, size.of(SUMMARIES, 50))
    count = sum(one.is_dir() for one in root.iterdir())
    with _opened(root, working / "summaries.sqlite") as catalogue:
        page = catalogue.page(EntryQuery(sort="-updated"))
        ours = _seconds(lambda: catalogue.page(EntryQuery(sort="-updated")))
        looks = _seconds(catalogue.refresh, 5)
    theirs = _seconds(lambda: listed_its_way(root, 0, 10), 5)
    yield Figure(f"page of 10 of {count:,} summary folders", ours, "ms", PAGE_SECONDS)
    yield Figure("  MindInsight's way", theirs, "ms")
    yield Figure("  its time / ours", [sum(theirs) / len(theirs) / (sum(ours) / len(ours))], "")
    yield Figure("  a look at all where nothing changed", looks, "ms")
    yield Figure("  of them listed", [float(page.total)], "")
    yield Figure("  of them listed, its way", [float(listed_its_way(root, 0, 10)[0])], "")


def listed_its_way(root: Path, offset: int, limit: int) -> tuple[int, list[tuple[str, float]]]:
    """Return number of jobs and a page of them, all files looked at, at most 999 jobs kept.

    Source: MindInsight, SummaryWatcher.list_summary_directories (e233ee19).
    """
    found: dict[str, tuple[int, float]] = {}
    for folder in sorted(os.scandir(root), key=lambda one: one.name):
        if len(found) >= _MOST_JOBS:
            break
        if folder.is_symlink() or not folder.is_dir():
            continue
        for file in os.scandir(folder.path):
            match = _SUMMARY.search(file.name)
            if match is None or not file.is_file() or file.is_symlink():
                continue
            known = found.get(folder.name, (-1, 0.0))
            found[folder.name] = max(known, (int(match["timestamp"]), file.stat().st_mtime))
    jobs = sorted(
        ((name, told[1]) for name, told in found.items()), key=lambda job: (-int(job[1]), job[0])
    )
    return len(jobs), jobs[offset * limit : (offset + 1) * limit]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--folder", type=Path)
    given, others = parser.parse_known_args()
    sys.argv[1:] = others
    run_program(__doc__, lambda size: measure(size, given.folder))
