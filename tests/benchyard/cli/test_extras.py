"""Libraries that only an extra of the package installs: without one, a sentence says which."""

import sys

import pytest

from tests.benchyard.cli.conftest import Cli
from tests.benchyard.cli.test_stats import STEP, record
from tests.conftest import MakeCase

QUERY = {**STEP, "resource": "DuckDB", "command": "execute", "parameters": {"sql": "SELECT 1"}}
GRAPH = ("graph", "--azure", "--account", "acct", "--pool", "p")


@pytest.mark.parametrize(
    ("library", "words", "extra", "instead"),
    [
        ("matplotlib", ("plot", "case", "-o", "made.pdf"), "plot", "use .svg"),
        ("duckdb", ("export", "case", "-o", "made.parquet"), "duckdb", "write .csv or .xlsx"),
        ("duckdb", ("export", "case", "-o", "made.arrow"), "arrow", "write .csv or .xlsx"),
        ("pyarrow", ("export", "case", "-o", "made.arrow"), "arrow", "write .csv or .xlsx"),
        ("duckdb", ("run", "query", "--direct"), "duckdb", "name an interpreter that has it"),
        ("viztracer", ("trace", "case", "--open"), "viewer", "write -o trace.json.gz"),
        ("azure.identity", GRAPH, "azure", "set AZURE_STORAGE_KEY"),
    ],
)
def test_a_missing_library_is_one_sentence(
    case_folder: MakeCase,
    run_here: Cli,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    words: tuple[str, ...],
    extra: str,
    instead: str,
) -> None:
    record(case_folder("case", STEP), 1, 1.0)
    case_folder("query", QUERY)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "acct")
    monkeypatch.setitem(sys.modules, library, None)
    out, err = run_here(*words, code=2)
    needs = f" needs {library.replace('.', '-')}: pip install 'benchyard[{extra}]', or {instead}"
    assert needs in err
    assert (out, len(err.splitlines())) == ("", 1)
