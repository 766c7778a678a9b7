"""Programs as child processes: how they end, what they say, and that they are really gone."""

import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from benchyard.case.resource import NoSettings, Workspace, command, step_context
from benchyard.core.errors import CommandFailedError, ProgramFailedError
from benchyard.core.model import Json
from resources.process import Process
from tests.conftest import eventually, is_gone
from tests.resources.containers import said

Put = Callable[[str, str], str]


@pytest.fixture
def process(workspace: Workspace) -> Generator[Process]:
    process = Process(NoSettings(), workspace)
    process.start()
    process.wait_until_ready()
    yield process
    process.stop()


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def fail(call: Callable[[], object]) -> CommandFailedError:
    with pytest.raises(CommandFailedError) as caught:
        call()
    return caught.value


#: Waits until a process has left its execve: before that the kernel shows no environment of it,
#: and so no label.
SETTLED = """
def settled(pid):
    while not open(f'/proc/{pid}/environ').read():
        pass
"""


def test_defect_40_a_program_runs_in_the_shared_folder_without_a_shell(
    process: Process, workspace: Workspace
) -> None:
    hostile = "pa$HOME`echo X`; hostname > stolen *"
    process.execute(["echo", "first"])
    with step_context("02-hello"):
        # It needs more memory than what starts it, or else the kernel tells no peak.
        code = "import os, sys; sum([1] * 2**23); print(os.getcwd(), os.environ['X'], sys.argv[1])"
        result = process.execute(python(code, hostile), environment={"X": hostile})
    assert result.output == workspace.kept / "02-hello.stdout.txt"
    assert said(result) == f"{workspace.shared} {hostile} {hostile}\n"
    assert not (workspace.kept / "02-hello.stderr.txt").exists()
    assert not (workspace.shared / "stolen").exists()
    assert result.values["exit_code"] == 0
    assert float(str(result.values["cpu_user_s"])) > 0
    assert float(str(result.values["cpu_system_s"])) >= 0
    assert int(str(result.values["peak_rss_bytes"])) > 2**26


def test_streams_go_to_the_files_that_the_step_names(
    process: Process, workspace: Workspace, put: Put
) -> None:
    put("in/words.txt", "b\na\n")
    result = process.execute(
        ["sort"], working_folder="in", stdin_file="in/words.txt", stdout_file="out/sorted.txt"
    )
    assert result.output == workspace.shared / "out/sorted.txt"
    assert said(result) == "a\nb\n"
    assert list(workspace.kept.iterdir()) == []


def test_streams_are_shared_discarded_or_empty_as_the_step_says(
    process: Process, workspace: Workspace
) -> None:
    code = python("import sys; print('a', flush=True); print('b', file=sys.stderr)")
    process.execute(code, stdout_file="all.txt", stderr_file="all.txt")
    assert workspace.file("all.txt").read_text() == "a\nb\n"
    process.execute(["true"], stdout_file="empty.txt")
    assert workspace.file("empty.txt").read_bytes() == b""
    assert process.execute(code, discard=["stdout"]).output is None
    assert [file.read_text() for file in workspace.kept.iterdir()] == ["b\n"]
    step: dict[str, Json] = {"arguments": ["x"], "discard": ["stdout"], "metrics": {"a": "b"}}
    assert [said for _, said in Process.refusals({}, "execute", step)] == [
        "'stdout' is discarded, and 'metrics' needs it"
    ]


def test_another_exit_code_may_be_the_right_one(process: Process) -> None:
    assert process.execute(["false"], exit_code=1).values["exit_code"] == 1
    kill_self = python("import os; os.kill(os.getpid(), 9)")
    assert process.execute(kill_self, exit_code=-9).values["exit_code"] == -9
    process.execute(["cp", "/dev/null", "made.txt"], output_file="made.txt")


def test_a_profile_is_kept_whether_its_program_ends_well_or_not(
    process: Process, workspace: Workspace
) -> None:
    for exit_code in (0, 3):
        script = python(f"open('p.json.gz', 'w').write('{exit_code}'); exit({exit_code})")
        if exit_code:
            fail(lambda script=script: process.execute(script, profile_file="p.json.gz"))
        else:
            process.execute(script, profile_file="p.json.gz")
        (kept,) = workspace.kept.glob("*.profile*")
        assert kept.name.endswith(".profile.json.gz")
        assert kept.read_text() == str(exit_code)
        assert not (workspace.shared / "p.json.gz").exists()
    process.execute(["true"], profile_file="none.txt")
    assert len([*workspace.kept.glob("*.profile*")]) == 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"working_folder": "../own"}, "outside"),
        *(
            ({f"{name}_file": "../x"}, "outside")
            for name in ("stdin", "stdout", "output", "profile")
        ),
        ({"working_folder": "file.txt"}, "is a file"),
        ({"working_folder": "gone"}, "no file"),
    ],
)
def test_paths_outside_of_the_case_are_refused(
    process: Process, put: Put, given: dict[str, Any], why: str
) -> None:
    put("file.txt", "")
    assert why in str(fail(lambda: process.execute(["true"], **given)))


def test_abort_kills_grandchildren_too(process: Process, workspace: Workspace) -> None:
    code = (
        f"import subprocess, time\n{SETTLED}"
        "p = [subprocess.Popen(['sleep', '600'], start_new_session=n) for n in (True, False)]\n"
        "[settled(x.pid) for x in p]\n"
        "open('pids.txt', 'w').write(' '.join(str(x.pid) for x in p) + chr(10))\n"
        "time.sleep(600)"
    )
    told = workspace.shared / "pids.txt"
    with ThreadPoolExecutor(1) as pool:
        runs = pool.submit(process.execute, python(code))
        assert eventually(lambda: told.exists() and told.read_text().endswith("\n"))
        pids = [*process.pids(), *map(int, told.read_text().split())]
        process.abort()
        assert "SIGKILL" in str(runs.exception(10))
    assert len(pids) == 3
    assert eventually(lambda: all(map(is_gone, pids)))
    assert process.pids() == []
    assert "aborted" in str(fail(lambda: process.execute(["true"])))


@pytest.mark.parametrize("label", ["01-a step for each", "step"])
def test_abort_kills_every_program_under_way(process: Process, label: str) -> None:
    def execute(number: int) -> CommandFailedError:
        with step_context(label.replace("for each", str(number))):
            return fail(lambda: process.execute(["sleep", "600"]))

    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(execute, number) for number in range(3)]
        assert eventually(lambda: len(process.pids()) == 3)
        pids = process.pids()
        process.abort()
        assert all(run.result(10) for run in runs)
    assert eventually(lambda: all(map(is_gone, pids)))


def test_stop_kills_daemons_that_a_program_left(process: Process) -> None:
    code = (
        f"import subprocess\n{SETTLED}"
        "p = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "settled(p.pid)\n"
        "print(p.pid)"
    )
    result = process.execute(python(code), stdout_file="pid.txt")
    daemon = int(said(result))
    assert Path(f"/proc/{daemon}").exists()
    process.stop()
    assert eventually(lambda: is_gone(daemon))


def test_children_carry_the_label_of_the_run_and_much_output_does_not_block(
    process: Process, workspace: Workspace
) -> None:
    code = "import os, sys; sys.stderr.write('e' * 10**6); print(os.environ['BENCHYARD_RUN'])"
    result = process.execute(python(f"{code}; sys.stdout.write('o' * 10**6)"))
    assert said(result) == f"{workspace.labels['benchyard.run']}\n" + "o" * 10**6


def test_what_a_program_used_stays_known_under_its_step(process: Process) -> None:
    with step_context("01-a"):
        process.execute(python("import time\nwhile time.process_time() < 0.1: pass"))
    (ended,) = process.ended()
    assert 0.1 <= ended.user_s + ended.system_s < 1
    assert ended.peak_rss_bytes is None or ended.peak_rss_bytes > 1_000_000
    assert ended.minor_faults > 0
    with step_context("02-b"):
        fail(lambda: process.execute(["false"]))
    assert process.ended("01-a") == [ended]
    assert [other.exit_status for other in process.ended("02-b")] == [1]
    assert len(process.ended()) == 2
    assert process.pids("01-a") == []


def test_written_bytes_are_in_the_account_even_of_a_grandchild(process: Process) -> None:
    with TemporaryDirectory(dir="/var/tmp") as disk:  # other temporary folders may be in memory
        opened = f"import os\nf = open('{disk}/big', 'wb')\n"
        write = f"{opened}f.write(bytes(8 << 20))\nf.flush()\nos.fsync(f)"
        code = f"import subprocess as s, sys\ns.run([sys.executable, '-c', {write!r}], check=True)"
        process.execute(python(code))
    assert process.ended()[0].write_bytes == pytest.approx(8 << 20, rel=0.01)


def test_the_lab_hears_of_each_program_that_comes_and_goes(process: Process) -> None:
    heard: list[int] = []
    process.on_change(lambda: heard.append(len(process.pids())))
    process.execute(["true"])
    assert heard == [1, 0]


class Twice(Process):
    """Computes, then runs a program: a deadline may pass while none runs."""

    @command
    def execute_later(self) -> None:
        self.abort("01-a")
        self.execute(["sleep", "600"])


def test_abort_between_two_programs_is_not_forgotten(workspace: Workspace) -> None:
    twice = Twice(NoSettings(), workspace)
    twice.begin("01-a")
    with step_context("01-a"):
        assert "aborted" in str(fail(twice.execute_later))
        twice.begin("01-a")
        twice.execute(["true"])


def test_only_an_exit_code_of_its_own_is_the_failure_of_a_program(
    process: Process, workspace: Workspace
) -> None:
    code = "import sys; print('half'); sys.exit(print('no luck', file=sys.stderr) or 3)"
    own = fail(lambda: process.execute(python(code, "s3cret")))
    assert isinstance(own, ProgramFailedError)
    assert own.exit_status == 3
    assert all(part in str(own) for part in ("exit code 3", "no luck"))
    assert "s3cret" not in str(own)
    assert (workspace.kept / "step.stdout.txt").read_text() == "half\n"
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    others = {
        "'no-such-program'": lambda: process.execute(["no-such-program"]),
        "SIGKILL": lambda: process.execute(python(killed)),
        # So shells tell of a child that was killed, for want of memory for instance.
        "137": lambda: process.execute(python("raise SystemExit(137)")),
        "3 was expected": lambda: process.execute(python("pass"), exit_code=3),
        "'never-written'": lambda: process.execute(python("pass"), output_file="never-written"),
    }
    for why, call in others.items():
        error = fail(call)
        assert why in str(error)
        assert not isinstance(error, ProgramFailedError)
    assert process.pids() == []
