"""What the tests themselves rely on: a need that is not met is never overlooked."""

from pathlib import Path

import pytest

from benchyard.host.testbed import lock_file
from tests import conftest
from tests.conftest import REQUIRE, eventually, missing

TESTS = """
import pytest

@pytest.mark.requires("no-such-program-anywhere")
def test_program(): ...

@pytest.mark.requires("module:no_such_module")
def test_module(): ...

@pytest.mark.requires("sh", "module:json")
def test_met(): ...

@pytest.mark.skip(reason="not today")
def test_skipped(): ...

def test_skips_itself():
    pytest.skip("not here")

@pytest.mark.xfail(reason="known")
def test_known(): raise ValueError
"""

WHOLE = """
import pytest
pytest.skip("the whole module", allow_module_level=True)
"""


@pytest.fixture
def nested(pytester: pytest.Pytester) -> pytest.Pytester:
    """Prepare a test run of its own under this very conftest."""
    pytester.makeconftest(Path(conftest.__file__).read_text())
    for name, text in (("test_some.py", TESTS), ("test_whole.py", WHOLE)):
        (pytester.path / name).write_text(text)
    pytester.makeini("[pytest]\nmarkers =\n    requires(need): x\n    slow: x\n")
    return pytester


@pytest.mark.slow
def test_a_need_that_is_not_met_skips_with_the_reason(
    nested: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(REQUIRE, raising=False)

    result = nested.runpytest_subprocess("-rs")

    result.assert_outcomes(passed=1, skipped=5, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "*needs no-such-program-anywhere: there is no program *on PATH*",
            "*needs module:no_such_module: there is no Python module*",
        ]
    )


@pytest.mark.slow
def test_where_all_is_required_every_skip_is_a_failure(
    nested: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REQUIRE, "all")

    result = nested.runpytest_subprocess("--continue-on-collection-errors", "-rfE")

    result.assert_outcomes(passed=1, failed=1, errors=4, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            f"*{REQUIRE}=all, and yet: *the whole module*",
            f"*{REQUIRE}=all, and yet: *needs no-such-program-anywhere*",
        ]
    )
    assert result.ret == 1


def test_needs_say_why_they_are_not_met() -> None:
    assert missing("sh") is None
    assert missing("module:json") is None
    assert missing("no-such-program") == "there is no program 'no-such-program' on PATH"
    assert missing("module:nope") == "there is no Python module 'nope'"
    assert str(missing("image:no")).endswith("; build it: python tests/images/build.py no")


def test_each_test_has_a_lock_of_its_own(isolated_lock: Path) -> None:
    assert lock_file() == isolated_lock
    assert not isolated_lock.exists()


def test_a_condition_that_never_holds_is_given_up() -> None:
    assert eventually(lambda: True)
    assert not eventually(lambda: False, 0.01)
