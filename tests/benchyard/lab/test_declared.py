"""What a prefect.yaml declares, and one that declares nothing."""

from pathlib import Path

import pytest

from benchyard.core.errors import InputError
from benchyard.lab.deploying import declared
from tests.benchyard.lab.labs import SOURCE


def test_ours_declares_what_the_lab_is_made_of() -> None:
    assert declared(SOURCE / "prefect.yaml") == {
        ("flows/execute_case.py:execute_case", "testbed"),
        ("flows/execute_suite.py:execute_suite", "nightly"),
        ("flows/publish.py:publish", "every-15-minutes"),
        ("flows/housekeeping.py:housekeeping", "weekly"),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "there is no file .*--prefect-yaml"),
        ("{", "declares no deployments"),
        ("a: 1", "declares no deployments"),
        ("", "declares no deployments"),
        ("deployments: [{name: x}]", "declares no deployments"),
        ("\x00", "declares no deployments"),
    ],
)
def test_another_file_is_one_sentence(tmp_path: Path, text: str | None, reason: str) -> None:
    file = tmp_path / "prefect.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(InputError, match=reason) as caught:
        declared(file)

    assert "\n" not in str(caught.value)
