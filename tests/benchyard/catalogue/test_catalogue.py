import itertools
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import SORTS, Condition, EntryQuery, Operator, Page
from benchyard.core.errors import InputError, NotFoundError
from benchyard.core.model import Outcome
from tests.benchyard.catalogue.making import COMMIT, FIRST_S, put_run, step


def looked(root: Path) -> Catalogue:
    return Catalogue([root], root.parent / "index.sqlite")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make three cases, one of two points; 12 runs in all."""
    base = tmp_path / "lab"
    for scale, run in itertools.product((1, 10), (1, 2, 3)):
        put_run(
            base / "tpch" / "results" / f"scale={scale}",
            run,
            name="tpch",
            point={"scale": scale},
            tags=("sql", "big"),
            versions={"SQLite": "3.40.1"},
            started_s=FIRST_S + scale * 1000 + run,
            steps=(step(1, 0.2 * scale, parameters={"threads": run, "mode": "fast"}),),
        )
    for run in (1, 2, 3, 4):
        told: dict[str, Any] = {"host": "bench-02", "tags": ("io",), "commit": COMMIT}
        outcome = Outcome.FAILED if run == 4 else Outcome.COMPLETED
        put_run(base / "sort" / "results", run, outcome=outcome, done=run != 4, **told)
    for run in (1, 2):
        put_run(base / "copy-file" / "results", run, host="", started_s=FIRST_S + 9)
    return base


@pytest.fixture
def catalogue(root: Path) -> Catalogue:
    return looked(root)


def titles(page: Page) -> list[tuple[str, int | None]]:
    return [(entry.title, entry.run) for entry in page.entries]


def asked(catalogue: Catalogue, **query: Any) -> list[tuple[str, int | None]]:
    return titles(catalogue.page(EntryQuery(**query)))


# -- entries


def test_an_entry_tells_what_its_record_does(catalogue: Catalogue) -> None:
    [entry] = catalogue.page(EntryQuery(text="tpch scale=10", sort="started", limit=1)).entries
    assert (entry.format, entry.case, entry.title) == ("run", "tpch", "tpch[scale=10]")
    assert entry.path == "tpch/results/scale=10/run_1"
    assert (entry.run, entry.outcome, entry.host) == (1, "completed", "bench-01")
    assert entry.started_s == FIRST_S + 10_001
    assert (entry.point, entry.tags) == ({"scale": 10}, ("sql", "big"))
    assert entry.versions == {"SQLite": "3.40.1"}
    assert entry.counts == {"steps": 1, "attempts": 1, "suspect": 0}
    assert entry.parameters == {"scale": 10, "step1.threads": 1, "step1.mode": "fast"}
    assert (entry.broken, entry.under_way) == ("", False)
    assert catalogue.entry(entry.id) == entry


def test_what_is_not_there_is_told_by_its_id(catalogue: Catalogue) -> None:
    with pytest.raises(NotFoundError, match="no entry 'x'"):
        catalogue.entry("x")
    with pytest.raises(NotFoundError, match="no case 'x'"):
        catalogue.case("x")


def test_a_root_in_another_one_adds_nothing(root: Path, tmp_path: Path) -> None:
    both = Catalogue([root, root / "sort"], tmp_path / "both.sqlite")
    assert both.roots == [root.resolve()]
    assert both.page(EntryQuery()).total == 12


# -- conditions


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 12),
        ({"text": "tpch"}, 6),
        ({"text": "TPC scale=1"}, 6),  # a word matches its beginnings
        ({"text": "[scale=10]"}, 3),
        ({"text": "copy-f"}, 2),
        ({"text": "bench-02"}, 4),
        ({"text": "3.40"}, 6),
        ({"text": "fail"}, 1),
        ({"text": COMMIT[:8]}, 4),
        ({"text": "tpch nothing"}, 0),
        ({"text": "NOT AND ( * \" ' ="}, 0),
        ({"text": "* = - [ ]"}, 12),
        ({"hosts": ("bench-02", "elsewhere")}, 4),
        ({"cases": ("tpch", "sort")}, 10),
        ({"tags": ("io", "big")}, 10),
        ({"outcomes": ("failed",)}, 1),
        ({"commits": (COMMIT,)}, 4),
        ({"commits": (COMMIT[:7],)}, 4),
        ({"commits": ("123",)}, 0),
        ({"versions": ("3.40.1",)}, 6),
        ({"versions": ("SQLite=3.40.1",)}, 6),
        ({"versions": ("DuckDB=3.40.1",)}, 0),
        ({"formats": ("run",)}, 12),
        ({"formats": ("trace",)}, 0),
        ({"broken": False}, 12),
        ({"broken": True}, 0),
        ({"under_way": True}, 0),
        ({"since_s": FIRST_S + 10_002}, 2),
        ({"until_s": FIRST_S + 10}, 2),
        ({"tags": ("big",), "since_s": FIRST_S + 10_002}, 2),
    ],
)
def test_conditions_hold_together(catalogue: Catalogue, query: dict[str, Any], count: int) -> None:
    found = catalogue.page(EntryQuery(**query, limit=None))
    assert (len(found.entries), found.total) == (count, count)


@pytest.mark.parametrize(
    ("parameter", "operator", "value", "count"),
    [
        ("scale", Operator.IS, 10, 3),
        ("scale", Operator.IS, "10", 3),
        ("scale", Operator.IS_NOT, 10, 3),
        ("scale", Operator.MORE, 9.5, 3),
        ("scale", Operator.LESS, 2, 3),
        ("step1.threads", Operator.AT_LEAST, 2, 4),
        ("step1.threads", Operator.AT_MOST, 1, 2),
        ("step1.mode", Operator.IS, "fast", 6),
        ("step1.mode", Operator.CONTAINS, "AS", 6),
        ("step1.mode", Operator.CONTAINS, "%", 0),
        ("threads", Operator.IS, 1, 0),
        ("step1.mode", Operator.MORE, 3, 0),
    ],
)
def test_parameters_are_compared_as_numbers_or_texts(
    catalogue: Catalogue, parameter: str, operator: Operator, value: Any, count: int
) -> None:
    query = EntryQuery(parameters=(Condition(parameter, operator, value),))
    assert catalogue.page(query).total == count


@given(st.text())
def test_no_text_is_a_syntax_error(text: str) -> None:
    with TemporaryDirectory() as folder:
        catalogue = Catalogue([Path(folder, "none")], Path(folder, "index.sqlite"))
        assert catalogue.page(EntryQuery(text=text, hosts=(text,), tags=(text,))).total == 0
        query = EntryQuery(commits=(text,), versions=(text,), sort=f"parameter:{text}")
        assert catalogue.page(query).total == 0
        catalogue.close()


# -- pages


def every_page(catalogue: Catalogue, query: EntryQuery) -> list[str]:
    found: list[str] = []
    page = catalogue.page(query)
    while True:
        found += [entry.id for entry in page.entries]
        if page.next is None:
            return found
        before, page = page, catalogue.page(replace(query, after=page.next))
        back = catalogue.page(replace(query, after=page.previous))
        assert back.entries == before.entries


@pytest.mark.parametrize("sort", [*SORTS, "parameter:scale", "parameter:step1.mode"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_cursors_and_offsets_agree_in_any_order(catalogue: Catalogue, sort: str, sign: str) -> None:
    query = EntryQuery(sort=sign + sort, limit=5)
    whole = catalogue.page(replace(query, limit=None)).entries
    by_offset = [catalogue.page(replace(query, offset=at)).entries for at in (0, 5, 10)]
    assert [entry.id for page in by_offset for entry in page] == [entry.id for entry in whole]
    assert every_page(catalogue, query) == [entry.id for entry in whole]
    assert len({entry.id for entry in whole}) == 12


def test_what_is_not_known_comes_first_ascending(catalogue: Catalogue) -> None:
    first = catalogue.page(EntryQuery(sort="parameter:scale", limit=6)).entries
    assert {entry.case for entry in first} == {"sort", "copy-file"}
    last = catalogue.page(EntryQuery(sort="-parameter:scale", limit=3)).entries
    assert {entry.title for entry in last} == {"tpch[scale=10]"}
    assert catalogue.page(EntryQuery(sort="host", limit=2)).entries[1].case == "copy-file"


def test_a_cursor_stays_where_it_was_when_entries_arrive(root: Path, catalogue: Catalogue) -> None:
    first = catalogue.page(EntryQuery(limit=4))
    rest = asked(catalogue, limit=None, after=first.next)
    put_run(root / "sort" / "results", 77, started_s=FIRST_S * 2)
    catalogue.refresh()
    assert asked(catalogue, limit=None, after=first.next) == rest
    assert asked(catalogue, limit=1) == [("sort", 77)]


def test_limits_and_offsets_beyond_the_end_are_empty(catalogue: Catalogue) -> None:
    for query in (EntryQuery(offset=12), EntryQuery(offset=10**15), EntryQuery(limit=0)):
        page = catalogue.page(query)
        assert (list(page.entries), page.total, page.next) == ([], 12, None)
    assert len(catalogue.page(EntryQuery(offset=-3)).entries) == 10


def test_a_damaged_or_foreign_cursor_and_an_unknown_order_are_told(catalogue: Catalogue) -> None:
    foreign = EntryQuery(sort="title", after=catalogue.page(EntryQuery(limit=2)).next)
    refused = [(foreign, "in another order")]
    refused += [(EntryQuery(sort="statred"), "cannot be sorted by 'statred'.*started")]
    for after in ("", "!", "AAAA", "é", "kw"):
        refused.append((EntryQuery(after=after), "begin at the first page"))
    for query, said in refused:
        with pytest.raises(InputError, match=said):
            catalogue.page(query)


# -- cases


def test_cases_come_with_the_newest_first(catalogue: Catalogue) -> None:
    cases = catalogue.cases()
    assert [case.title for case in cases] == [
        *("tpch[scale=10]", "tpch[scale=1]", "sort", "copy-file")
    ]
    tpch, _, sort, copy = cases
    assert (tpch.runs, tpch.failed, tpch.hosts) == (3, 0, ("bench-01",))
    assert (tpch.path, tpch.point) == ("tpch/results/scale=10", {"scale": 10})
    assert tpch.newest_s == FIRST_S + 10_003
    assert (sort.runs, sort.failed, sort.tags) == (4, 1, ("io",))
    assert copy.hosts == ()
    assert catalogue.case(sort.id) == sort
    assert catalogue.page(EntryQuery(results=(sort.id,))).total == 4


def test_cases_are_those_of_the_runs_asked_for(catalogue: Catalogue) -> None:
    [sort] = catalogue.cases(EntryQuery(outcomes=("failed",)))
    assert (sort.title, sort.runs, sort.failed) == ("sort", 1, 1)
    assert [case.case for case in catalogue.cases(offset=1, limit=2)] == ["tpch", "sort"]
    assert catalogue.count_cases() == 4
    assert catalogue.count_cases(EntryQuery(text="tpch")) == 2
    assert [c.title for c in catalogue.changed_since(FIRST_S + 10_000)] == ["tpch[scale=10]"]


def test_steps_of_a_case_come_in_the_order_of_its_runs(root: Path) -> None:
    results = root / "steps" / "results"
    put_run(results, 2, steps=(step(1, 3.0, 1.0, 2.0), step(2, 4.0, suspect=("it swapped",))))
    put_run(results, 1, steps=(step(1, outcome=Outcome.FAILED),), outcome=Outcome.FAILED)
    catalogue = looked(root)
    [case] = catalogue.cases(EntryQuery(cases=("steps",)))
    found = [(one.run, one.step) for one in catalogue.steps_of(case.id)]
    assert [(run, one.step, one.outcome, one.median_s, one.suspect) for run, one in found] == [
        (1, "step1", "failed", None, False),
        (2, "step1", "completed", 2.0, False),
        (2, "step2", "completed", 4.0, True),
    ]


# -- values


def test_values_come_with_their_number(catalogue: Catalogue) -> None:
    assert catalogue.values("host") == {"bench-01": 6, "bench-02": 4}
    assert catalogue.values("case") == {"tpch": 6, "sort": 4, "copy-file": 2}
    assert catalogue.values("tag") == {"big": 6, "sql": 6, "io": 4}
    assert catalogue.values("version") == {"SQLite=3.40.1": 6}
    assert catalogue.values("outcome") == {"completed": 11, "failed": 1}
    assert catalogue.values("parameter:scale", EntryQuery(text="tpch")) == {"1": 3, "10": 3}
    assert catalogue.values("parameter")["step1.mode"] == 6
    assert catalogue.values("host", EntryQuery(tags=("io",))) == {"bench-02": 4}
    fields = ("tag", "parameter:scale", "host")
    queries = [EntryQuery(), EntryQuery(text="tpch"), EntryQuery(tags=("io",))]
    for query in (*queries, EntryQuery(formats=("run",))):
        each = {field: catalogue.values(field, query) for field in fields}
        assert catalogue.values_of(fields, query) == each
    with pytest.raises(InputError, match=r"no field 'hots'.*host"):
        catalogue.values("hots")


def test_answers_are_those_of_the_present(root: Path, catalogue: Catalogue) -> None:
    generation = catalogue.generation
    assert catalogue.values("tag", EntryQuery(text="sort")) == {"io": 4}
    catalogue.refresh()
    assert catalogue.generation == generation
    put_run(root / "sort" / "results", 5, tags=("new",))
    catalogue.refresh()
    assert catalogue.generation > generation
    assert catalogue.values("tag", EntryQuery(text="sort")) == {"io": 4, "new": 1}
    assert catalogue.page(EntryQuery(text="sort")).total == 5


@pytest.mark.parametrize("sort", [*SORTS, "-duration", "parameter:scale"])
def test_a_format_is_asked_in_any_order(root: Path, catalogue: Catalogue, sort: str) -> None:
    result = {"command": "true", "mean": 0.1, "times": [0.1, 0.1]}
    (root / "times.json").write_text(json.dumps({"results": [result]}))
    catalogue.refresh()
    everything = catalogue.page(EntryQuery(sort=sort, limit=None)).entries
    assert {entry.format for entry in everything} > {"hyperfine"}
    # Of the rare one SQLite takes the index, of the common one it does not.
    for name in ("run", "hyperfine"):
        page = catalogue.page(EntryQuery(formats=(name,), sort=sort, limit=None))
        assert list(page.entries) == [entry for entry in everything if entry.format == name]
        assert page.total == len(page.entries)
