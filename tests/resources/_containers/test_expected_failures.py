"""What ``expect_failure`` takes for a program's own failure, in containers on a real engine."""

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import ProgramFailedError, ResourceError
from tests.resources._containers.conftest import container_in, shell
from tests.resources._containers.conftest import space as space  # noqa: PLC0414 - a fixture

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]

EATS = "perl -e 'my @a; push @a, \"x\" x 1e6 while 1'"


def error_of(space: Workspace, how: str, arguments: list[str], **settings: object) -> ResourceError:
    with container_in(space, **settings) as made, pytest.raises(ResourceError) as caught:
        getattr(made, how)(arguments)
    return caught.value


@pytest.mark.parametrize("how", ["execute", "run_to_end"])
def test_an_exit_code_of_its_own_is(space: Workspace, how: str) -> None:
    error = error_of(space, how, shell("exit 3"))
    assert isinstance(error, ProgramFailedError)
    assert error.exit_status == 3
    # The shell's own word for a program that it did not find.
    assert isinstance(error_of(space, how, shell("no-such-program")), ProgramFailedError)


@pytest.mark.parametrize("how", ["execute", "run_to_end"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["no-such-program"], "no-such-program"),
        (["/etc/passwd"], "permission denied"),
        (shell("sh -c 'kill -KILL $$'; exit $?"), "signal 9"),
        (shell(f"sleep 0.5; {EATS}; code=$?; sleep 0.5; exit $code"), "out of memory"),
        (["true"], "3 was expected"),
    ],
)
def test_what_never_began_or_was_killed_is_not(
    space: Workspace, how: str, arguments: list[str], told: str
) -> None:
    with container_in(space, memory="64MB") as made, pytest.raises(ResourceError) as caught:
        getattr(made, how)(arguments, exit_code=3 if arguments == ["true"] else 0)
    assert not isinstance(caught.value, ProgramFailedError)
    assert caught.match(told)


def test_a_container_that_ended_is_not(space: Workspace) -> None:
    """It is told as what it is, not by the engine's words for an execution in nothing."""
    ends = shell("while ! test -e /data/shared/go; do sleep 0.01; done; echo bye >&2; exit 9")
    waits = shell("touch /data/shared/go; sleep 300")
    with container_in(space, command=ends) as made:
        for arguments in (waits, ["true"]):
            with pytest.raises(ResourceError, match=r"ended: exit code 9; it said: bye") as caught:
                made.execute(arguments)
            assert not isinstance(caught.value, ProgramFailedError)
        assert not made.alive()


def test_a_request_that_the_engine_refuses_is_not(space: Workspace) -> None:
    with container_in(space) as made, pytest.raises(ResourceError) as caught:
        made.execute(["true"], user="no-such-user")
    assert not isinstance(caught.value, ProgramFailedError)
