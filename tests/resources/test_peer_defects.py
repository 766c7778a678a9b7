"""Faults of the closest peer that these classes could have, each named after its number."""

from collections.abc import Callable
from pathlib import Path

from benchyard.case.resource import Workspace
from benchyard.core.model import Check
from benchyard.run.checks import Checks
from resources.embedded import EmbeddedDatabase
from resources.process import Process

Put = Callable[[str, str], str]
Database = EmbeddedDatabase[object]


def _answer(path: Path | None) -> str:
    assert path is not None
    return path.read_text()


def test_defect_03_an_empty_answer_is_an_answer(database: Database, put: Put) -> None:
    database.execute("CREATE TABLE words (word VARCHAR(20))")
    put("ask.sql", "SELECT word FROM words")

    result = database.execute_query_file("ask.sql")

    assert result.values["rows"] == 0
    assert result.output is not None
    Checks().check(Check(rows=0), result.output, result.output.parent)


def test_defect_03_the_word_empty_is_data(database: Database, put: Put) -> None:
    put("words.csv", "word\nEmpty\nNo results\n")
    database.load("words.csv", "words")
    put("ask.sql", "SELECT word FROM words ORDER BY word")

    result = database.execute_query_file("ask.sql")

    assert result.values["rows"] == 2
    assert _answer(result.output).splitlines() == ["word", "Empty", "No results"]


def test_defect_16_a_load_reads_nothing_back(
    database: Database, put: Put, workspace: Workspace
) -> None:
    put("words.csv", "word\n" + "w\n" * 1000)

    result = database.load("words.csv", "words")

    assert result.values == {"rows": 1000, "files": 1}
    assert result.output is None
    assert list(workspace.kept.iterdir()) == []


def test_defect_40_environment_values_arrive_verbatim(workspace: Workspace) -> None:
    hostile = "pa$HOME`echo X`; hostname > stolen"
    process = Process(Process.Settings(), workspace)

    result = process.execute(["printenv", "HOSTILE"], environment={"HOSTILE": hostile})

    assert _answer(result.output) == hostile + "\n"
    assert not (workspace.shared / "stolen").exists()


def test_defect_41_what_is_said_on_stderr_is_no_answer(workspace: Workspace) -> None:
    process = Process(Process.Settings(), workspace)

    result = process.execute(["sh", "-c", "echo warning >&2; echo answer"])

    assert _answer(result.output) == "answer\n"


def test_defect_42_the_output_is_that_of_the_command(workspace: Workspace) -> None:
    process = Process(Process.Settings(), workspace)
    process.execute(["echo", "first"])

    assert _answer(process.execute(["echo", "second"]).output) == "second\n"
