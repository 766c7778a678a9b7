"""No text is read or written in whatever encoding a host's locale happens to have."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = ("benchyard", "resources", "tasks", "flows", ".ci", "benchmarks")
TEXT = {"read_text", "write_text", "open", "fdopen", "TextIOWrapper", "NamedTemporaryFile"}
PROCESSES = {"run", "Popen", "check_output"}
#: Owners of an ``open`` that gives no text: descriptors, archives, objects of our own.
NO_FILES = {
    "os",
    "webbrowser",
    "Image",
    "gzip",
    "tarfile",
    "archive",
    "_log",
    "_reporter",
    "_recorder",
    "recorder",
    "_decoded",
}


def test_every_text_has_its_encoding() -> None:
    files = [file for name in OURS for file in sorted((ROOT / name).rglob("*.py"))]
    assert len(files) > 300
    assert [place for file in files for place in without(file)] == []


def without(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Call) and lacks(node):
            yield f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)[:90]}"


def lacks(call: ast.Call) -> bool:
    """Tell whether a call opens text, or a process that speaks text, without an encoding."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    if "encoding" in given or None in given:
        return False
    owner, name = named(call.func)
    if name in PROCESSES:
        return given.get("text") == "True"
    if name not in TEXT or (owner in NO_FILES and name == "open"):
        return False
    if name in {"read_text", "write_text"}:
        return len(call.args) < 1 + (name == "write_text")
    at_first = owner is not None and name == "open"  # of a path: its first argument is the mode
    mode = given.get("mode") or "".join(map(ast.unparse, call.args[0 if at_first else 1 :][:1]))
    if name == "NamedTemporaryFile":
        return "b" not in (given.get("mode") or "b")
    return len(call.args) < 2 if name == "TextIOWrapper" else "b" not in mode


def named(function: ast.expr) -> tuple[str | None, str]:
    match function:
        case ast.Attribute(value, name):
            return ast.unparse(value).rpartition(".")[2], name
        case ast.Name(name):
            return None, name
        case _:
            return None, ""
