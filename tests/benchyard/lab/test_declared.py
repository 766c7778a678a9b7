"""What a prefect.yaml declares, and one that declares nothing."""

from pathlib import Path

import pytest

from benchyard.core.errors import InputError
from benchyard.lab.deploying import declared


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
