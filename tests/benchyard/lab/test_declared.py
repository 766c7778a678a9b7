"""What a prefect.yaml declares, and one that declares nothing."""

import importlib
from pathlib import Path

import pytest

from benchyard.core.errors import InputError
from benchyard.lab.deploying import PREFECT_YAML, declared


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


def test_without_a_checkout_the_installed_flows_serve_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deployments = declared(Path(PREFECT_YAML))["deployments"]
    modules = {each["entrypoint"] for each in deployments}
    assert "flows.execute_case.execute_case" in modules
    assert all(importlib.import_module(name.rpartition(".")[0]) for name in modules)
    assert {each.get("parameters", {}).get("root", ".") for each in deployments} == {"."}
