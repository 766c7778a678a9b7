"""Small inputs that once gave a wrong answer, each executed as the one who found it did."""

import csv
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ports import free_port

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "repro"
inputs = sorted(path.parent for path in FOLDER.glob("*/cmd"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not inputs, reason="the small inputs are not beside the checkout"),
]

#: Bytes of memory that a process may have, and of temporary files.
MEMORY, DISK = 1_000_000_000, 200_000_000
#: These want all memory or disk that there is.
LIMITED = ("attack-03-pack-deep", "attack-04-pack-copies")


@dataclass(frozen=True)
class Said:
    """What an input's commands printed, stdout and stderr together, and their folder."""

    text: str
    folder: Path

    @property
    def codes(self) -> list[int]:
        """Exit codes that ``echo $?`` printed."""
        return [int(line) for line in self.text.splitlines() if re.fullmatch(r"\d{1,3}", line)]

    def row(self, name: str) -> str:
        """Return the first line that begins with ``name``."""
        rows = [line for line in self.text.splitlines() if line.split()[:1] == [name]]
        assert rows, f"no row of {name}:\n{self.text}"
        return " ".join(rows[0].split())

    def has(self, *words: str) -> bool:
        """Say whether all of ``words`` were printed, whatever the blanks between them."""
        text = " ".join(self.text.split())
        return all(word in text for word in words)


def devices_stay(said: Said) -> None:
    kinds = {"null": stat.S_ISCHR, "pipe": stat.S_ISFIFO, "link.json": stat.S_ISLNK}
    for name, is_kind in kinds.items():
        assert is_kind((said.folder / name).lstat().st_mode), name
    assert (said.folder / "pipe.out").read_text().startswith("name,command,")
    assert (said.folder / "real.json").read_text().startswith("|")
    assert '"commands": [' in said.text


def codes_and_files_stay(said: Said) -> None:
    assert said.codes == [1, 1, 0]
    assert (said.folder / "f.xml").exists()
    assert (said.folder / "e.json").exists()


def columns_differ(said: Said) -> None:
    with (said.folder / "pn.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert len(set(head)) == len(head)
    values = [sorted({row[index] for row in rows}) for index in range(len(head))]
    assert values.count(["1", "2"]) == 1
    assert values.count(["a", "b"]) == 1


def memory_is_not_zero(said: Said) -> None:
    (result,) = json.loads((said.folder / "hf.json").read_text())["results"]
    assert 0 not in result.get("memory_usage_byte", [])


def markdown_holds(said: Said) -> None:
    lines = (said.folder / "ml.md").read_text().splitlines()
    assert not [line for line in lines if line.startswith("sleep")]
    assert [line for line in lines if line.startswith("|") and line.count("sleep 0.01") == 2]


def others_are_written(said: Said) -> None:
    assert said.codes[0] == 2 or (said.folder / "ok.csv").exists()


def executions_before_the_failure_are_kept(said: Said) -> None:
    assert said.codes == [1]
    assert "4" in said.text
    assert "sleep 0.01" in (said.folder / "fl.json").read_text()


def stderr_costs_nothing(said: Said) -> None:
    factors = re.findall(r"is ([\d.]+) times faster", said.text)
    assert all(float(each) < 1.3 for each in factors), said.text


def links_are_followed_or_named(said: Said) -> None:
    assert "first" in said.text.partition("validate")[0]


def tables_are_equal(said: Said) -> None:
    """Of both files; of the numbers in the files only the base differs."""
    parents = [line.split() for line in said.text.splitlines() if line.startswith("parent")]
    assert len(parents) == 2
    assert parents[0] == parents[1]
    assert said.has("1.00 µs", "34.0 µs")


def listed(*names: str) -> Callable[[Said], None]:
    """Check that the explorer lists files (``+name``: as broken), and that what reads them does."""

    def check(said: Said) -> None:
        lines = [line for line in said.text.splitlines() if line.startswith("[")]
        entries = {Path(each["path"]).name: each for line in lines for each in json.loads(line)}
        for name in names:
            entry = entries[name.removeprefix("+")]
            assert bool(entry["broken"]) == name.startswith("+"), entry
        assert "no known format" not in said.text

    return check


def exits(*codes: int, without: str = "Traceback") -> Callable[[Said], None]:
    def check(said: Said) -> None:
        assert said.codes[-1] in codes
        assert without not in said.text

    return check


def prints(
    *words: str, never: str = "", codes: Sequence[int] | None = None, absent: str = ""
) -> Callable[[Said], None]:
    """Check that words were printed and a pattern was not; exit codes; a file that is absent."""

    def check(said: Said) -> None:
        assert said.has(*words), said.text
        assert not (never and re.search(never, said.text)), said.text
        assert codes is None or said.codes == codes
        assert not (absent and (said.folder / absent).exists())

    return check


def rows(**durations: str) -> Callable[[Said], None]:
    def check(said: Said) -> None:
        assert all(text in said.row(name) for name, text in durations.items())
        assert "lost" in said.text

    return check


CHECKS: dict[str, Callable[[Said], None]] = {
    "01-export-replaces-devices": devices_stay,
    "02-closed-reader-exit-0": codes_and_files_stay,
    "03-metric-pattern-takes-part-of-a-number": prints("1,234,567", never=" 567"),
    "04-step-option-and-failing": exits(0, without="1 regression"),
    "05-time-leaves-background-work": prints("0 0 0 0 0 0 0 0"),
    "06-time-ignore-failure-ranks-failures": prints("failed", never="times faster"),
    "07-time-csv-columns-twice": columns_differ,
    "08-hyperfine-export-memory-0": memory_is_not_zero,
    "09-metric-vanished-passes": exits(5),
    "10-no-way-to-write-a-literal-dollar-brace": prints("${env:HOME}", never=r"\*{6}"),
    "11-parameter-replaced-twice": prints("echo {y} baz", "echo a,b"),
    "12-tiny-and-huge-numbers-in-tables": prints("3.2e-16", "1e-310", "6.02e+23"),
    "13-lines-of-a-command-break-markdown": markdown_holds,
    "14-export-that-fails-takes-the-others-along": others_are_written,
    "15-time-failure-loses-everything": executions_before_the_failure_are_kept,
    "16-time-stderr-is-not-discarded": stderr_costs_nothing,
    "17-first-run-not-counted-in-advice": prints(never="5 runs give no interval"),
    "18-odd-limits": prints("1,000 values", codes=[2], absent="-"),
    "19-missing-program-found-late": prints("nosuchprog", absent="executed"),
    "20-units-in-what-a-program-prints": prints("944 µs 0 s 0 %"),
    "21-stats-cv-of-negative-values": prints(never=r"-\d+(\.\d+)?%"),
    "attack-01-scanner": exits(0, 2),
    "attack-02-pack-huge": exits(2),
    "attack-03-pack-deep": exits(2),
    "attack-04-pack-copies": exits(0, 2, without="MB left"),
    "b2-01-absolute-time": prints("child", "900 ns", "90.0 ns"),
    "b2-02-end-by-name": rows(A="4.00 µs", B="2.00 µs", later="10.0 µs"),
    "b2-03-two-entries-of-one-name": prints("BM_a", never=r"[-+](?!0\.0)[\d.]+ ?%"),
    "b2-04-long-first-line": prints("RecursiveDescentVisitor", "and 872 names more"),
    "b2-05-speedscope-schema-last": prints("a 20.0 ms 20.0 ms 100 %"),
    "b2-07-symlink-tree": links_are_followed_or_named,
    "b2-08-pprof-heap": prints("work", never=r"10\.0 ms"),
    "b2-09-speedscope-bytes": prints("alloc", never="1 h 23"),
    "b2-14-explorer-16k": prints(",t.json,"),
    "files-01-epoch-timestamps": tables_are_equal,
    "files-02-go-heap": prints("p.leak", "MB"),
    "files-03-go-pprof-not-listed": listed("cpu.prof", "block.prof"),
    "files-06-gz-truncated": listed("+trace-gztrunc.json.gz"),
    "files-07-utf16": prints("b 14 5 36 %", '"format":"google-benchmark"'),
    "files-08-speedscope-bom": prints("b 1 14 5 36 %", never="malformed"),
    "files-10-tid-text": prints("parent 1 50.0 µs 30.0 µs"),
    "wrapped-package": prints("sortedcontainers 2.2.2 and 2.4.0"),
}
#: Commands that show what a check needs and the input's own do not print.
MORE = {
    "09-metric-vanished-passes": "benchyard compare v3/base v3/cand --strict --metric thr; echo $?",
    "19-missing-program-found-late": (
        "for n in 1 2 3 4; do benchyard time 'touch executed' nosuchprog; done"
    ),
    "20-units-in-what-a-program-prints": (
        r"sed -i 's/\[\\\\d.\]+)/[\\\\d.]+) (?P<unit>\\\\w+)/' units/metadata.json; rm -f u.n;"
        "benchyard run units --runs 6 --direct --new;"
        "benchyard stats units --suspect include --metric mean_s"
    ),
}


def command_of(source: Path) -> str:
    """Return the commands as they are called now, with a free port, and no fixed wait for it."""
    text = (source / "cmd").read_text().replace("--include-suspect", "--suspect include")
    for port in set(re.findall(r"--port (\d+)", text)):
        free = str(free_port())
        text = text.replace(port, free)
        listening = f"until curl -s -o /dev/null http://127.0.0.1:{free}; do sleep 0.2; done"
        text = text.replace("sleep 4", listening)
    return f"{text}\n{MORE.get(source.name, '')}\n"


def distributions(folder: Path) -> Path:
    """Make two versions of a distribution, so that no package index is needed."""
    folder.mkdir()
    head = "Metadata-Version: 2.1\nName: sortedcontainers"
    for version in ("2.2.2", "2.4.0"):
        info = f"sortedcontainers-{version}.dist-info"
        files = {
            "sortedcontainers.py": f"VERSION = {version!r}\nSortedList = list\n",
            f"{info}/METADATA": f"{head}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
        }
        with zipfile.ZipFile(folder / f"sortedcontainers-{version}-py3-none-any.whl", "w") as wheel:
            for name, text in files.items():
                wheel.writestr(name, text)
    return folder


def execute(source: Path, base: Path, prefix: tuple[str, ...] = ()) -> Said:
    """Execute an input's commands in an empty folder with its files."""
    folder, temporary, script = base / "work", base / "temporary", base / "script"
    temporary.mkdir()
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("cmd", "expected"))
    script.write_text(command_of(source))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "400",
        "HOME": str(base),
        "TMPDIR": str(temporary),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(distributions(base / "distributions")),
    }
    ended = subprocess.run(
        [*prefix, "bash", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    return Said(ended.stdout, folder)


@pytest.mark.parametrize("source", inputs, ids=lambda path: path.name)
def test_a_small_input_is_answered(source: Path, tmp_path: Path) -> None:
    limits = (
        f"mount -t tmpfs -o size={DISK} tmpfs '{tmp_path}/temporary'"
        f' && ulimit -v {MEMORY // 1024} && exec "$@"'
    )
    prefix = ("unshare", "--mount", "bash", "-c", limits, "limited")
    said = execute(source, tmp_path, prefix if source.name in LIMITED else ())
    assert "Traceback" not in said.text, said.text
    assert "benchyard's own" not in said.text, said.text
    CHECKS.get(source.name, lambda _: None)(said)
