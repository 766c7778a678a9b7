"""What ``expect_failure`` takes for a program's own failure, in containers on a real engine."""

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import ProgramFailedError, ResourceError
from resources.container import Container
from tests.resources.containers import container_in, shell

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]


def error_of(made: Container, how: str, arguments: list[str], exit_code: int = 0) -> ResourceError:
    with pytest.raises(ResourceError) as caught:
        getattr(made, how)(arguments, exit_code=exit_code)
    return caught.value


@pytest.mark.parametrize("how", ["execute", "run_to_end"])
def test_an_exit_code_of_its_own_is(plain: Container, how: str) -> None:
    error = error_of(plain, how, shell("exit 3"))
    assert isinstance(error, ProgramFailedError)
    assert error.exit_status == 3
    # The shell's own word for a program that it did not find.
    assert isinstance(error_of(plain, how, shell("no-such-program")), ProgramFailedError)


@pytest.mark.parametrize("how", ["execute", "run_to_end"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["no-such-program"], "no-such-program"),
        (["/etc/passwd"], "permission denied"),
        (shell("sh -c 'kill -KILL $$'; exit $?"), "signal 9"),
        (["true"], "3 was expected"),
    ],
)
def test_what_never_began_or_was_killed_is_not(
    plain: Container, how: str, arguments: list[str], told: str
) -> None:
    """Nor is one that ran out of memory: see where containers do."""
    error = error_of(plain, how, arguments, exit_code=3 if arguments == ["true"] else 0)
    assert not isinstance(error, ProgramFailedError)
    assert told in str(error)


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


def test_a_request_that_the_engine_refuses_is_not(plain: Container) -> None:
    with pytest.raises(ResourceError) as caught:
        plain.execute(["true"], user="no-such-user")
    assert not isinstance(caught.value, ProgramFailedError)
