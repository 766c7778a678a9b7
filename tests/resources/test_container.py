"""Containers on a real engine: how they end, what they say, what they may, what stays of them."""

import re
import socket
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import CommandResult, Workspace, step_context
from benchyard.core.errors import (
    CommandFailedError,
    NotReadyError,
    ProgramFailedError,
    ResourceError,
)
from benchyard.process.labels import CHILD, labelled
from resources._containers.container import LiveContainer
from resources._containers.engine import EngineError
from resources.container import AnyContainerSettings, Container
from tests.conftest import eventually, is_gone
from tests.ports import free_port
from tests.resources.containers import (
    BASE,
    NOTHING,
    WAITS,
    broken_off,
    container_in,
    fail,
    inspected,
    left_of,
    run_of,
    said,
    shell,
    workspace_in,
)

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]


def server(container: Any) -> LiveContainer:
    live: LiveContainer = container._up()
    return live


def id_of(container: Container) -> str:
    return server(container).id


def perl(code: str) -> list[str]:
    return ["perl", "-e", code]


def never_up(kind: type[Exception], why: str, space: Workspace, **settings: Any) -> None:
    """See that a container does not come up, and is told with its reason."""
    with pytest.raises(kind, match=why), container_in(space, **settings):
        raise AssertionError


# -- to the end


def test_a_container_runs_to_its_end_with_both_streams_apart(space: Workspace) -> None:
    with container_in(space, runs=False) as made, step_context("02-run"):
        code = "echo out; echo err >&2; pwd; hostname; sleep 0.2"
        with step_context("01-silent"):
            assert made.run_to_end(["true"]).output is None
        assert list(space.kept.iterdir()) == []
        result = made.run_to_end(shell(code), working_folder="/")
    assert result.output == space.kept / "02-run.stdout.txt"
    assert said(result) == "out\n/\nContainer\n"
    assert (space.kept / "02-run.stderr.txt").read_text() == "err\n"
    assert result.values["exit_code"] == 0
    assert result.values["out_of_memory"] is False
    assert 0 < float(str(result.values["run_s"])) < 60


@pytest.mark.parametrize("way", ["execute", "run_to_end"])
@pytest.mark.parametrize(
    ("arguments", "why", "status", "is_own"),
    [
        (shell("echo no luck >&2; exit 3"), "exit code 3; it said: no luck", 3, True),
        # The shell's own word for a program that it did not find.
        (shell("no-such-program"), "exit code 127", 127, True),
        (["no-such-program"], "no-such-program", None, False),
        (["/etc/passwd"], "permission denied", None, False),
        (shell("sh -c 'kill -KILL $$'; exit $?"), "signal 9", 137, False),
        (shell("sleep 300 & kill -SEGV $!; wait $!"), "signal 11", 139, False),
    ],
)
def test_defect_01_only_an_exit_code_of_its_own_is_the_failure_of_a_program(
    plain: Container, way: str, arguments: list[str], why: str, status: int | None, is_own: bool
) -> None:
    """Nor is one that ran out of memory: see below."""
    with pytest.raises(ResourceError, match=why) as caught:
        getattr(plain, way)(arguments)
    assert isinstance(caught.value, ProgramFailedError) is is_own
    assert status in (None, getattr(caught.value, "exit_status", None))


@pytest.mark.parametrize("way", ["execute", "run_to_end"])
def test_another_exit_code_may_be_the_right_one(plain: Container, way: str) -> None:
    call = getattr(plain, way)
    assert call(shell("exit 3"), exit_code=3).values["exit_code"] == 3
    error = fail(partial(call, ["true"], exit_code=3))
    assert "3 was expected" in str(error)
    assert not isinstance(error, ProgramFailedError)


def test_a_container_that_ended_is_told_as_what_it_is(space: Workspace) -> None:
    """Not by the engine's words for an execution in nothing."""
    ends = shell("while ! test -e /data/shared/go; do sleep 0.01; done; echo bye >&2; exit 9")
    waits = shell("touch /data/shared/go; sleep 300")
    with container_in(space, command=ends) as made:
        for arguments in (waits, ["true"]):
            with pytest.raises(ResourceError, match=r"ended: exit code 9; it said: bye") as caught:
                made.execute(arguments)
            assert not isinstance(caught.value, ProgramFailedError)
        assert not made.alive()


def test_a_request_that_the_engine_refuses_is_no_failure_of_a_program(plain: Container) -> None:
    with pytest.raises(ResourceError) as caught:
        plain.execute(["true"], user="no-such-user")
    assert not isinstance(caught.value, ProgramFailedError)


EATS = "perl -e 'my @a; push @a, \"x\" x 1e6 while 1'"


@pytest.mark.parametrize(("code", "status"), [("$code", 137), ("0", 0)], ids=["itself", "a child"])
def test_a_container_that_runs_out_of_memory_is_told_apart_from_a_failure(
    space: Workspace, code: str, status: int
) -> None:
    # The engine hears of it beside the program's end, and only once it listens.
    eats = shell(f"sleep 0.5; {EATS}; code=$?; sleep 0.5; exit {code}")
    with container_in(space, memory="64MB") as made, ThreadPoolExecutor(2) as pool:
        ways = (made.run_to_end, made.execute) if status else (made.run_to_end,)
        calls = [partial(call, eats) for call in ways]
        for error in pool.map(fail, calls, ("01-alone", "02-beside")):
            assert "out of memory" in str(error)
            assert error.exit_status == status
            assert not isinstance(error, ProgramFailedError)


# -- in the container that runs


def test_a_program_is_executed_in_the_container_that_runs(space: Workspace) -> None:
    with container_in(space, environment={"FROM_CASE": "1"}) as made, step_context("03-do"):
        result = made.execute(
            shell('echo "$FROM_CASE $HERE $(id -u) $(pwd)"; echo err >&2'),
            working_folder="/tmp",
            environment={"HERE": "2"},
            user="65534",
        )
        assert said(result) == "1 2 65534 /tmp\n"
        assert result.values["exit_code"] == 0
        assert 0 < float(str(result.values["run_s"])) < 60
        assert (space.kept / "03-do.stderr.txt").read_text() == "err\n"
        made.execute(["touch", "/stays"])
        made.execute(["test", "-e", "/stays"])


def test_files_go_where_the_step_says(plain: Container) -> None:
    space = plain.workspace
    (space.inputs / "words.txt").write_text("b\na\n")
    (space.shared / "words.txt").symlink_to(space.inputs / "words.txt")
    sort = ["sort", "/data/shared/words.txt"]
    assert said(plain.execute(sort, stdout_file="sorted.txt")) == "a\nb\n"
    assert space.file("sorted.txt").read_text() == "a\nb\n"
    into = [*sort, "-o", "/data/shared/out/two.txt"]
    space.new_file("out/two.txt")
    plain.run_to_end(into, output_file="out/two.txt")
    assert space.file("out/two.txt").read_text() == "a\nb\n"
    plain.run_to_end([*sort, "-o", "/data/shared/out/p.txt"], profile_file="out/p.txt")
    plain.execute([*sort, "-o", "/data/shared/out/p.json"], profile_file="out/p.json")
    kept = {file.suffix: file.read_text() for file in space.kept.glob("*.profile.*")}
    assert kept == {".txt": "a\nb\n", ".json": "a\nb\n"}
    for call in (plain.run_to_end, plain.execute):
        error = fail(partial(call, ["true"], output_file="none.txt"))
        assert "'none.txt'" in str(error)
    with pytest.raises(CommandFailedError, match="exit code"):
        plain.execute(shell("echo x > /data/shared/words.txt"))
    assert (space.inputs / "words.txt").read_text() == "b\na\n"


def test_defect_40_no_shell_of_the_lab_reads_anything_and_much_output_comes_whole(
    plain: Container,
) -> None:
    counts = perl("print STDOUT 'x' x 1023, qq(\\n) for 1..20000; print STDERR 'y' x 5e6")
    for call in (plain.run_to_end, plain.execute):
        assert said(call(["echo", "$HOME", "`id`", ";", "*", "a b"])) == "$HOME `id` ; * a b\n"
        result = call(counts)
        assert result.output is not None
        assert result.output.stat().st_size == 20_000 * 1024
        assert (plain.workspace.kept / "step.stderr.txt").stat().st_size == 5_000_000


def test_output_is_there_while_the_program_runs(plain: Container) -> None:
    kept, go = plain.workspace.kept / "step.stdout.txt", plain.workspace.shared / "go"
    waits = shell("echo now; while ! test -e /data/shared/go; do sleep 0.01; done")
    for call in (plain.run_to_end, plain.execute):
        with ThreadPoolExecutor(1) as pool:
            runs = pool.submit(partial(call, waits))
            assert eventually(lambda: kept.exists() and kept.read_text() == "now\n")
            go.touch()
            runs.result(10)
        go.unlink()
        kept.unlink()


def test_a_program_that_is_silent_for_longer_than_questions_may_take(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for any question on a busy machine; both are silent side by side, for longer.
    monkeypatch.setattr("resources._containers.engine.TIMEOUT", 5)

    def ask(number: int, call: Callable[..., CommandResult]) -> str:
        with step_context(f"0{number}-silent"):
            return said(call(shell("sleep 5.2; echo done")))

    with container_in(space) as made, ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, (1, 2), (made.run_to_end, made.execute))) == ["done\n"] * 2


@pytest.mark.requires("mount")
def test_a_full_disk_fails_the_step_and_holds_nobody_up(space: Workspace, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    subprocess.run(mount, check=True)
    try:
        with container_in(replace(space, kept=small)) as made:
            for call in (made.run_to_end, made.execute):
                error = fail(partial(call, perl("print 'x' x 5e6; exit 0")))
                assert "No space left" in str(error)
                (small / "01-step.stdout.txt").unlink()
    finally:
        subprocess.run(["/bin/umount", str(small)], check=True)


# -- killing


#: Ignores SIGTERM, and so does its child, which forgets its environment, too.
STUBBORN = shell("trap '' TERM; env -i sh -c 'trap \"\" TERM; sleep 301' & sleep 301; sleep 301")


@pytest.mark.parametrize("way", ["run_to_end", "execute"])
def test_defect_47_an_abort_kills_inside_the_container_and_the_children_too(
    space: Workspace, way: str
) -> None:
    with container_in(space) as made:
        assert "killed" in broken_off(lambda: getattr(made, way)(STUBBORN), made.abort, 0.7)
        assert not made.alive()
        assert not [pid for pid, value in labelled(CHILD) if value == label_of(made)]
        assert "aborted" in str(fail(lambda: made.run_to_end(["true"])))


def label_of(made: Any) -> str:
    return made._label


def test_a_program_that_obeys_is_asked_to_end(space: Workspace) -> None:
    ends = shell('trap "echo bye; exit 0" TERM; echo hears; sleep 300 & wait $!')
    with container_in(space, command=ends, ready={"log": "hears"}):
        pass
    assert (space.kept / "server.stdout.txt").read_text() == "hears\nbye\n"


def test_one_that_does_not_obey_is_killed_after_its_time(space: Workspace) -> None:
    with container_in(space, command=["sleep", "300"], stop_seconds=0) as made:
        pid = server(made).pid()
        assert pid
    assert is_gone(pid)


# -- readiness


#: Listens on 8080 after a moment and answers over HTTP, in perl, which the base has.
SERVES = perl(
    "use IO::Socket::INET; $| = 1; select(undef, undef, undef, 0.3);"
    "my $s = IO::Socket::INET->new(LocalPort => 8080, Listen => 9, ReuseAddr => 1) or die;"
    "print qq(ready to serve\\n); my $n = 0;"
    "while (my $c = $s->accept) { my $l = <$c>; $n++ if $l;"
    "print $c ($n < 3 ? 'HTTP/1.0 503 Wait' : 'HTTP/1.0 200 OK'), qq(\\r\\n\\r\\n); close $c }"
)


CONNECTS = "exit !IO::Socket::INET->new('127.0.0.1:8080')"
CHECK: Any = {"command": ["perl", "-MIO::Socket::INET", "-e", CONNECTS], "interval": 0.2}


@pytest.mark.parametrize(
    "ready",
    [
        {"log": "^ready to s.rve$"},
        {"tcp": 8080},
        {"http": "8080/health"},
        {"command": CHECK["command"]},
        {"healthy": True},
        {"log": "ready", "tcp": 8080, "http": ":8080/"},
    ],
    ids=["log", "tcp", "http", "command", "healthy", "all"],
)
def test_defect_13_it_is_ready_when_it_says_so(space: Workspace, ready: Any) -> None:
    check: Any = CHECK if "healthy" in ready else {}
    settings: Any = {"command": SERVES, "ready": ready, "health_check": check, "stop_seconds": 0}
    with container_in(space, **settings) as made:
        address = server(made).address()
        assert address
        socket.create_connection((address, 8080), 1).close()


WAYS: list[Any] = [{"log": "never said"}, {"tcp": 9}, {"http": "9/"}, {"command": ["false"]}]


@pytest.mark.parametrize("ready", WAYS, ids=["log", "tcp", "http", "command"])
def test_defect_21_one_that_dies_while_it_starts_is_an_error_at_once(
    space: Workspace, ready: Any
) -> None:
    dies = shell("sleep 0.2; echo no luck >&2; exit 7")
    given: Any = {"command": dies, "ready": ready, "ready_seconds": 100}
    never_up(NotReadyError, r"(?s)died while.*exit code 7.*no luck", space, **given)


def test_defect_21_the_deadline_of_readiness_holds(space: Workspace) -> None:
    says = shell('echo waiting; trap "exit 0" TERM; sleep 300 & wait $!')
    given: Any = {"command": says, "ready": WAYS[0], "ready_seconds": 1}
    never_up(NotReadyError, r"(?s)not ready after 1 s.*waiting", space, **given)


def test_an_unhealthy_one_is_told_with_what_its_check_said(space: Workspace) -> None:
    check: Any = {"command": shell("echo sick; exit 1"), "interval": 0.1, "retries": 2}
    never_up(NotReadyError, "unhealthy: sick", space, ready={"healthy": True}, health_check=check)
    never_up(NotReadyError, "no health check", space, ready={"healthy": True})


# -- what a case may set


def test_limits_are_in_force(space: Workspace) -> None:
    limits: Any = {"cpus": 0.5, "cpuset": "1", "memory": "96MB", "shm_size": "8MB"}
    limits |= {"ulimits": {"nofile": 77}, "user": "65534:65534", "read_only": True}
    with container_in(space, **limits, tmpfs={"/s": "4MB"}, environment={"A": "b"}) as made:
        host = inspected(id_of(made))["HostConfig"]
        assert host["NanoCpus"] == 500_000_000
        assert host["Memory"] == host["MemorySwap"] == 96 << 20
        assert host["LogConfig"]["Type"] == "none"
        tells = (
            "ulimit -n; id -u; id -g; nproc; echo $A; touch /x 2>/dev/null || echo no;"
            "df -k --output=size /dev/shm /s | tail -n 2; touch /s/x && echo yes"
        )
        words = said(made.execute(shell(tells))).split()
    assert words == ["77", "65534", "65534", "1", "b", "no", "8192", "4096", "yes"]


def test_entrypoint_and_working_folder(space: Workspace) -> None:
    with container_in(
        space, runs=False, entrypoint=["echo", "first"], working_folder="/usr"
    ) as made:
        assert said(made.run_to_end(["second"])) == "first second\n"
        assert said(made.run_to_end([], entrypoint=["pwd"])) == "/usr\n"


def test_a_container_may_be_kept_away_from_networks(space: Workspace) -> None:
    with container_in(space, network=False) as made:
        assert said(made.execute(["ls", "/sys/class/net"])) == "lo\n"
        assert said(made.run_to_end(["ls", "/sys/class/net"])) == "lo\n"


def test_containers_of_a_run_find_each_other_by_name(space: Workspace, tmp_path: Path) -> None:
    other = workspace_in(tmp_path / "other")
    ask = perl("print gethostbyname('Database') ? 'there' : 'not there'")
    with container_in(space, host_name="Database"), container_in(space, runs=False) as made:
        assert said(made.run_to_end(ask)) == "there"
        with container_in(other, runs=False) as stranger:
            assert said(stranger.run_to_end(ask)) == "not there"


def test_defect_43_ports_are_published_on_loopback_alone(space: Workspace) -> None:
    settings: Any = {"ready": {"tcp": 8080}, "ports": {"8080": 0}, "stop_seconds": 0}
    with container_in(space, command=SERVES, **settings) as made:
        port = server(made).port(8080)
        bindings = inspected(id_of(made))["NetworkSettings"]["Ports"]["8080/tcp"]
        assert [one["HostIp"] for one in bindings] == ["127.0.0.1"]
        socket.create_connection(("127.0.0.1", port), 2).close()
        with pytest.raises(NotReadyError, match=r"port 81 .*not published"):
            server(made).port(81)


def test_a_taken_fixed_port_is_an_error_before_anything_starts(space: Workspace) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        never_up(ResourceError, f"port {port} of this host is taken", space, ports={"80": port})
    with container_in(space, ports={"80": port}) as made:
        assert server(made).port(80) == port


def test_volumes_begin_empty_and_go_away(space: Workspace) -> None:
    with container_in(space, volumes=["/store"]) as made:
        made.run_to_end(shell('test -z "$(ls /store)" && touch /store/x'))
        made.execute(["test", "-e", "/store/x"])
        assert len(left_of(run_of(space))["volumes"]) == 1
    with container_in(space, volumes=["/store"]) as made:
        made.execute(shell('test -z "$(ls /store)"'))


def test_everything_that_is_made_carries_the_labels(space: Workspace) -> None:
    with container_in(space, volumes=["/store"]) as made:
        made.run_to_end(["true"])
        found = left_of(run_of(space))
        assert [len(found[kind]) for kind in ("containers", "networks", "volumes")] == [2, 1, 1]
        name = inspected(id_of(made))["Name"]
        assert re.fullmatch(r"/benchyard-container-[0-9a-f]{12}", name)
        for one in found["containers"]:
            assert space.labels.items() <= inspected(one)["Config"]["Labels"].items()
        made.begin("02-next")
        assert len(left_of(run_of(space))["containers"]) == 1


# -- images, engines


def test_defect_41_an_image_that_is_not_to_be_had_is_named(space: Workspace) -> None:
    why = "image 'localhost:1/none:1' is not here and cannot be"
    never_up(EngineError, why, space, image="localhost:1/none:1")


def test_no_engine_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    made = Container(AnyContainerSettings(image=BASE), workspace_in(tmp_path))
    for call in (made.initialize, made.start):
        with pytest.raises(EngineError, match=r"none\.sock does not answer \(.*No such file"):
            call()
    made.stop()
    made.abort()
    assert made.cgroups() == []


def test_a_second_stop_and_a_stop_without_a_start_do_nothing(space: Workspace) -> None:
    made = Container(AnyContainerSettings(image=BASE, command=WAITS), space)
    made.stop()
    made.start()
    made.stop()
    made.stop()


def test_defect_35_a_start_that_fails_leaves_nothing(tmp_path: Path) -> None:
    fails: Any = {"command": ["no-such-program"], "volumes": ["/x"]}
    never_up(EngineError, "no-such-program", workspace_in(tmp_path), **fails)
    assert left_of(tmp_path) == NOTHING
