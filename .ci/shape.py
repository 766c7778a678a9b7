"""Print the figures of the code's shape beside their aims, so that a slide is seen.

A room is a package of ``benchyard``, or one of the other top folders. Lines of code are those with
more than a comment or a docstring on them.
"""

import ast
import io
import statistics
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("benchyard", "resources", "tasks", "flows")
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


def ties(files: Sequence[File]) -> set[tuple[str, str]]:
    """Return which room imports from which other one."""
    modules = {file.module for file in files}
    found: set[tuple[str, str]] = set()
    for file in files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                whole = [f"{node.module}.{one.name}" for one in node.names]
                named = {one if one in modules else node.module for one in whole}
            elif isinstance(node, ast.Import):
                named = {one.name for one in node.names}
            else:
                continue
            found |= {(room(file.module), room(one)) for one in named & modules}
    return {(one, other) for one, other in found if one != other}


def functions(tree: ast.AST) -> list[tuple[int, str]]:
    """Return length in lines and name of each function."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [(len(_lines(node)), node.name) for node in found]


def main() -> None:
    """Print one line a figure."""
    files, tests = read(*PACKAGES), read("tests")
    rooms = {room(file.module) for file in files if file.module != "benchyard"}
    print(f"rooms: {len(rooms)} (aim 20), tied by {len(ties(files))} imports (aim 110)")
    code = sum(len(file.code()) for file in files)
    share = sum(len(file.imports()) for file in files) / code
    print(f"modules: {len(files)} (aim 320), code lines {code:,} (aim 30,000)")
    print(f"  imports {share:.1%} of them (aim 10 %)")
    by_length = sorted((file.lines, str(file.path)) for file in files)
    median = statistics.median(length for length, _ in by_length)
    print(f"  median {median:.0f} lines, longest {by_length[-1][0]}: {by_length[-1][1]} (aim 350)")
    found = sorted(item for file in files for item in functions(file.tree))
    lengths = [length for length, _ in found]
    p90 = lengths[int(len(lengths) * 0.9)]
    print(f"functions: {len(found)}, median {statistics.median(lengths):.0f} (aim 8)")
    print(f"  p90 {p90} (aim 20), longest {found[-1][0]}: {found[-1][1]} (aim 60)")
    print(f"tests: code lines {sum(len(file.code()) for file in tests):,} (aim 34,000)")


if __name__ == "__main__":
    main()
