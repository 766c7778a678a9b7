"""Print the figures of the code's shape beside their aims, so that a slide is seen."""

import ast
import statistics
from pathlib import Path

PACKAGES = ("benchyard", "resources", "tasks", "flows")


def functions(tree: ast.AST) -> list[tuple[int, str]]:
    """Return length in lines and name of each function."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [((node.end_lineno or node.lineno) - node.lineno + 1, node.name) for node in found]


def main() -> None:
    """Print one line a figure."""
    files = [file for package in PACKAGES for file in sorted(Path(package).rglob("*.py"))]
    modules = sorted(
        (len(file.read_text(encoding="utf-8").splitlines()), str(file)) for file in files
    )
    found = sorted(
        item for file in files for item in functions(ast.parse(file.read_text(encoding="utf-8")))
    )
    lengths = [length for length, _ in found]
    p90 = lengths[int(len(lengths) * 0.9)]
    print(f"functions: {len(found)}, median {statistics.median(lengths):.0f} (aim 8 or less)")
    print(f"  p90 {p90} (aim 25), longest {found[-1][0]}: {found[-1][1]} (aim 50)")
    print(f"modules: {len(modules)}, median {statistics.median(n for n, _ in modules):.0f} lines")
    print(f"  longest {modules[-1][0]}: {modules[-1][1]} (aim 350)")


if __name__ == "__main__":
    main()
