"""All checks together: on this host, on recorded ones, on damaged ones."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.host.checks import CHECKS, examine, findings, worst_first
from benchyard.host.checks.check_context import CheckContext, Finding, Load, Status, glance
from benchyard.host.facts import environment_of
from tests.benchyard.host.checks.hosts import HOSTS, LAPTOP, looked, scene_of, write_host

ROOT = Path(__file__).parents[4]
#: Not on every host: what a host has not got needs no line.
OPTIONAL = {"energy preference", "frequency limits", "kinds of cores", "NUMA", "steal"}


def by_name(found: tuple[Finding, ...]) -> dict[str, Finding]:
    return {finding.check: finding for finding in found}


def test_this_host_is_looked_over(tmp_path: Path) -> None:
    found = by_name(findings(tmp_path / "absent" / "results", look_seconds=0.01))
    assert set(CHECKS) - set(found) <= OPTIONAL | {"power profile"}
    for finding in found.values():
        assert finding.finding
        assert json.loads(json.dumps(finding.to_json())) == finding.to_json()
        assert finding.advice or finding.status in (Status.OK, Status.UNKNOWN)
    assert str(tmp_path) in found["results folder"].finding
    # What takes time is left out without a look.
    assert not {"busy processes", "other labs"} & set(by_name(findings(look_seconds=0)))


@pytest.mark.parametrize("name", HOSTS)
def test_recorded_hosts_are_looked_over(name: str, tmp_path: Path) -> None:
    found = by_name(examine(looked(tmp_path, HOSTS[name], HOSTS[name])))
    assert set(CHECKS) - set(found) <= OPTIONAL | {"power profile"}
    odd = {check for check, f in found.items() if "cannot be understood" in f.finding}
    assert odd == ({"load average", "free memory"} if name == "nothing told" else set())
    if name == "nothing told":
        told = {check for check, f in found.items() if f.status is Status.OK}
        assert told <= {
            *("power supply", "user", "results folder", "temporary folder"),
            *("CPU isolation", "other containers", "other labs", "limits of the lab"),
            "busy processes",
        }


_WORDS = st.sampled_from(
    [
        *("", "\n", "some avg10=x", "0-99999999999", "max", "[", "[]", "9" * 5000, "-1", "1 2 3"),
        *("cpu x y z", "MemTotal: kB", "a b c d e", "0::", "22 1 259:2 / / rw - ext4", "x: 1"),
    ]
)


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> CheckContext:
    return scene_of(tmp_path_factory.mktemp("laptop"), LAPTOP)


@settings(max_examples=25, deadline=None)
@given(damage=st.dictionaries(st.sampled_from(sorted(LAPTOP)), _WORDS | st.binary(max_size=40)))
def test_damaged_files_never_break_a_check(
    damage: dict[str, str | bytes], laptop: CheckContext
) -> None:
    for path, content in damage.items():
        laptop.host.at(path).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    try:
        look = Load(glance(laptop.host, 0.0), glance(laptop.host, 0.3))
        assert len(examine(replace(laptop, look=look))) > 20
        assert environment_of(laptop.host)
    finally:
        write_host(laptop.host.root, {path: LAPTOP[path] for path in damage})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_a_user_without_rights_is_told_and_not_stopped() -> None:
    program = (
        "import os\n"
        "from benchyard.host.checks import findings\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "for f in findings(look_seconds=0.01): print(f.check, f.status, f.finding, sep='|')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    lines = dict(line.split("|", 1) for line in ended.stdout.splitlines())
    assert lines["user"].startswith("ok|no root (user id 65534)")
    assert lines["results folder"].startswith("fail|")


def test_refused_files_never_break_a_check(tmp_path: Path) -> None:
    assert len(examine(scene_of(tmp_path, dict.fromkeys(LAPTOP)))) > 20


def test_a_folder_that_vanished_below_the_lab_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", Mock(side_effect=FileNotFoundError("none")))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    found = by_name(findings(look_seconds=0))
    assert found["results folder"].status is Status.UNKNOWN


def test_the_worst_comes_first_and_else_the_order_stays() -> None:
    ok, fail, unknown = Status.OK, Status.FAIL, Status.UNKNOWN
    found = tuple(Finding(str(at), status, "") for at, status in enumerate((ok, unknown, ok, fail)))
    assert [one.check for one in worst_first(found)] == ["3", "1", "0", "2"]
