"""Print the figures of the code's shape, and fail if one is above that of the last landing.

``python .ci/shape.py --lower`` keeps smaller figures as the new limits, in ``shape.json`` beside.
A room is a package of ``benchyard``, or one of the other top folders. Lines of code are those with
more than a comment or a docstring on them. A name crosses a wall if another room imports it from
the module that it stands in; a class name counts as used twice if two public classes have it.
"""

import ast
import io
import json
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("benchyard", "resources", "tasks", "flows")
LIMITS = Path(__file__).with_name("shape.json")
_SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORT = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class File:
    """A module: its name, its text, and what that parses to."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """Its dotted name."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def lines(self) -> int:
        """How many lines it has, blanks included."""
        return len(self.text.splitlines())

    def code(self) -> set[int]:
        """Return the numbers of the lines of code."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        found = [one for one in tokens if one.type not in _SILENT]
        code = {line for one in found for line in range(one.start[0], one.end[0] + 1)}
        return code - {line for one in _docstrings(self.tree) for line in _lines(one)}

    def imports(self) -> set[int]:
        """Return the numbers of the lines of import statements."""
        return {
            line
            for node in ast.walk(self.tree)
            if isinstance(node, _IMPORT)
            for line in _lines(node)
        }


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _docstrings(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0]


def read(*folders: str) -> list[File]:
    """Read all modules below some folders."""
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [File(path, text, ast.parse(text)) for path, text in zip(paths, texts, strict=True)]


def room(module: str) -> str:
    """Return the room that a module stands in."""
    return ".".join(module.split(".")[: 2 if module.startswith("benchyard.") else 1])


def walls(files: Sequence[File]) -> set[tuple[str, str]]:
    """Return module and name of each import from another room."""
    modules = {file.module for file in files}
    return {
        (node.module, one.name)
        for file in files
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ImportFrom) and node.module in modules
        if room(node.module) != room(file.module)
        for one in node.names
        if f"{node.module}.{one.name}" not in modules
    }


def shared_class_names(files: Sequence[File]) -> list[str]:
    """Return the names that several public classes have."""
    classes = (node for file in files for node in ast.walk(file.tree))
    names = Counter(node.name for node in classes if isinstance(node, ast.ClassDef))
    return sorted(name for name, count in names.items() if count > 1 and name[0] != "_")


def functions(tree: ast.AST) -> list[tuple[int, str]]:
    """Return length in lines and name of each function."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [(len(_lines(node)), node.name) for node in found]


def figures(files: Sequence[File], tests: Sequence[File]) -> dict[str, int]:
    """Return the figures that may only become smaller."""
    crossing = walls(files)
    return {
        "code lines": sum(len(file.code()) for file in files),
        "modules": len(files),
        "names across walls": len(crossing),
        "modules across walls": len({module for module, _ in crossing}),
        "class names used twice": len(shared_class_names(files)),
        "longest function": max(max(functions(file.tree), default=(0, ""))[0] for file in files),
        "longest module": max(file.lines for file in files),
        "code lines of tests": sum(len(file.code()) for file in tests),
    }


def describe(files: Sequence[File]) -> None:
    """Print what has no limit: the rooms, the lengths, and the names to look at."""
    rooms: Counter[str] = Counter()
    for file in files:
        rooms[room(file.module)] += len(file.code())
    print("rooms: " + ", ".join(f"{name} {lines:,}" for name, lines in rooms.most_common()))
    lengths = sorted(found for file in files for found in functions(file.tree))
    p90, longest = lengths[int(len(lengths) * 0.9)][0], lengths[-1][1]
    median = statistics.median(length for length, _ in lengths)
    print(f"functions: {len(lengths)}, median {median:.0f}, p90 {p90}, longest {longest}")
    print(f"longest module: {max((file.lines, str(file.path)) for file in files)[1]}")
    print(f"class names used twice: {', '.join(shared_class_names(files))}")


def main(arguments: Sequence[str]) -> int:
    """Print each figure beside its limit; return 1 if one is above it."""
    files, tests = read(*PACKAGES), read("tests")
    describe(files)
    now, limits = figures(files, tests), _limits()
    for name, value in now.items():
        print(f"{name}: {value:,} (at most {limits.get(name, value):,})")
    if "--lower" in arguments:
        lowered = {name: min(value, limits.get(name, value)) for name, value in now.items()}
        LIMITS.write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")
    above = [name for name, value in now.items() if value > limits.get(name, value)]
    if above:
        print(f"above the last landing: {', '.join(above)}; take as much away as was added")
    return int(bool(above))


def _limits() -> Mapping[str, int]:
    return json.loads(LIMITS.read_text(encoding="utf-8")) if LIMITS.exists() else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
