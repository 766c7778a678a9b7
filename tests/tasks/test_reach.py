"""What a flow run of a lab may ask for."""

from pathlib import Path

import pytest

from benchyard.core.errors import InputError
from tasks.names import ALLOWED
from tasks.trust import forbidden_variables, refuse_beyond_reach


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "checkout" / "cases").mkdir(parents=True)
    (tmp_path / "more").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv(ALLOWED, f"{tmp_path / 'checkout'}:{tmp_path / 'more'}")
    return tmp_path / "checkout"


def test_what_lies_below_an_allowed_folder_may_be_named(checkout: Path) -> None:
    refuse_beyond_reach(
        case="cases/tpch[scale=0.01/2]",
        root=".",
        results=str(checkout.parent / "more" / "results"),
        resources=(),
    )


def test_all_that_lies_elsewhere_is_named_in_one_sentence(checkout: Path) -> None:
    (checkout / "way-out").symlink_to("/etc")
    with pytest.raises(InputError) as caught:
        refuse_beyond_reach(
            case="../checkout-2/case", root="/", results="way-out/x", resources=("cases", "/tmp/r")
        )
    said = str(caught.value)
    for part in ("case '../checkout-2/case'", "root '/'", "results 'way-out/x'", "'/tmp/r'"):
        assert part in said
    assert "resources 'cases'" not in said
    assert "--allow" in said


@pytest.mark.usefixtures("checkout")
def test_a_name_that_is_no_path_is_refused_without_a_traceback() -> None:
    with pytest.raises(InputError):
        refuse_beyond_reach(root="a\0b")


@pytest.mark.usefixtures("checkout")
def test_a_user_s_own_terminal_reaches_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALLOWED)
    refuse_beyond_reach(root="/", results="/var/results")


@pytest.mark.parametrize(
    ("wanted", "forbidden"),
    [
        (None, []),
        ({"env": {"CASE_SIZE": "2"}, "stream_output": True, "command": None}, []),
        ({"command": "sh -c id"}, ["command"]),
        ({"working_dir": "/tmp/trap"}, ["working_dir"]),
        ({"env": {"LD_PRELOAD": "x", "A": "b"}}, ["env.LD_PRELOAD"]),
        ({"env": {"PYTHONSAFEPATH": "", "PATH": "/tmp"}}, ["env.PYTHONSAFEPATH", "env.PATH"]),
        ({"env": {"BENCHYARD_ALLOWED": "/"}}, ["env.BENCHYARD_ALLOWED"]),
        ({"env": {"PREFECT_LOGGING_SETTINGS_PATH": "x"}}, ["env.PREFECT_LOGGING_SETTINGS_PATH"]),
    ],
)
def test_variables_that_choose_what_is_executed(wanted: object, forbidden: list[str]) -> None:
    assert forbidden_variables(wanted) == forbidden  # type: ignore[arg-type]
