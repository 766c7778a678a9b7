"""What the tests themselves rely on: a need that is not met is never overlooked."""

from pathlib import Path

import pytest

from tests import conftest
from tests.conftest import HIDDEN, REQUIRE, missing, program

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
    pytester.makeini("[pytest]\nmarkers =\n    requires(need): x\n    slow: x\n    hidden: x\n")
    return pytester


@pytest.mark.slow
def test_a_need_that_is_not_met_skips_with_the_reason(
    nested: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(REQUIRE, raising=False)
    monkeypatch.delenv(HIDDEN, raising=False)

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


@pytest.mark.slow
def test_what_is_hidden_must_be_skipped_and_nothing_else_may(
    nested: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(REQUIRE, raising=False)
    monkeypatch.setenv(HIDDEN, "no-such-program-anywhere sh")

    result = nested.runpytest_subprocess("-m", "hidden", "-rsfE", "test_some.py")

    result.assert_outcomes(skipped=1, errors=1, deselected=4)
    result.stdout.fnmatch_lines(
        [
            "sh module:json: some of it is hidden, and yet it is no skip",
            "*needs no-such-program-anywhere: there is no program *on PATH*",
        ]
    )
    result = nested.runpytest_subprocess("-m", "not hidden", "-rE", "test_some.py")

    result.assert_outcomes(failed=1, errors=2, xfailed=1, deselected=2)
    result.stdout.fnmatch_lines([f"*needs nothing of {HIDDEN}, and yet: *module:no_such_module*"])


def test_every_test_has_a_limit_and_the_long_ones_more(request: pytest.FixtureRequest) -> None:
    assert float(request.config.getini("timeout")) == 300
    assert all(seconds > 300 for seconds in conftest.LIMITS.values())


def test_a_program_that_a_test_does_not_declare_is_refused() -> None:
    with pytest.raises(AssertionError, match="the test lacks its mark"):
        program("sh")


def test_needs_say_why_they_are_not_met() -> None:
    assert missing("sh") is None
    assert missing("module:json") is None
    assert missing("no-such-program") == "there is no program 'no-such-program' on PATH"
    assert missing("module:nope") == "there is no Python module 'nope'"
    assert str(missing("image:no")).endswith("; build it: python tests/images/build.py no")
