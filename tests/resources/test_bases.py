"""Base classes for others: the example of the page that leads classes of KROWN's here."""

import re
from pathlib import Path

import resources
from benchyard.case.parameters import signature_of
from benchyard.case.resource import commands_of
from resources import bases

#: A list that grows has no type that pyright knows.
_OFFERED: list[str] = vars(bases)["__all__"]
PAGE = (Path(__file__).parents[2] / "docs" / "krown-classes.md").read_text()


def test_the_example_is_a_class_with_krowns_commands(tmp_path: Path) -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_engine.py").write_text(example)
    registry = resources.find([tmp_path])
    assert "MyEngine" not in registry.unavailable
    commands = commands_of(registry.classes["MyEngine"])
    assert sorted(commands) == ["execute", "execute_mapping"]
    signature = signature_of(commands["execute_mapping"])
    assert list(signature.required) == ["mapping_file", "output_file", "serialization"]


def test_the_page_names_what_there_is() -> None:
    assert set(_OFFERED) <= set(re.findall(r"`(\w+)`", PAGE))
