"""From files to cases: everything at once, nothing hidden, defaults, points of a matrix."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.loading import (
    METADATA,
    Loaded,
    find_metadata,
    linked_folders,
    load,
    load_all,
    raise_problems,
)
from benchyard.core.errors import CaseError
from benchyard.core.model import Case, Check, Requires, Step
from tests.benchyard.case.toys import REGISTRY

_KROWN = "; how a class of KROWN's gets here is in docs/integrations/krown.md"

KROWN_SAMPLES = Path(__file__).parents[3].parent / "shared" / "krown-samples"


STEP = {"resource": "Toy", "command": "play"}


def step(**parameters: Any) -> dict[str, Any]:
    return {**STEP, "parameters": parameters}


def write(folder: Path, document: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / METADATA
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def load_case(folder: Path, *steps: dict[str, Any], **keys: Any) -> Loaded:
    return load(write(folder, {"name": "toys", "steps": steps or (STEP,), **keys}), REGISTRY)


def one(folder: Path, *steps: dict[str, Any], **keys: Any) -> Case:
    loaded = load_case(folder, *steps, **keys)
    assert loaded.problems == ()
    [case] = loaded.cases
    return case


def problems(loaded: Loaded) -> list[tuple[str, str]]:
    assert loaded.cases == ()
    return [(problem.path, problem.message) for problem in loaded.problems]


# -- defaults


NOTHING: list[dict[str, Any]] = [
    *({}, {"cooldown": "auto"}),
    *({"requires": {}}, {"requires": {"docker": False}}, {"requires": {"tags": []}}),
]


@pytest.mark.parametrize("nothing", NOTHING)
def test_the_smallest_case(tmp_path: Path, nothing: dict[str, Any]) -> None:
    case = one(tmp_path, **nothing)
    steps = (Step(1, "step1", "Toy play", "Toy", "play"),)
    assert case == Case(tmp_path, "urn:benchyard:case:toys", "toys", "", steps)
    assert case.shared == tmp_path / "data" / "shared"
    assert case.title == "toys"


def test_all_that_a_case_can_say(tmp_path: Path) -> None:
    (tmp_path / "data" / "shared").mkdir(parents=True)
    (tmp_path / "data" / "shared" / "expected").touch()
    check: dict[str, Any] = {"file": "out", "equal": "expected", "tolerance": 0.1}
    alike: dict[str, Any] = {"timeout": 2, "retries": 3, "retry_delay": 0.5, "warmup": 1}
    alike |= {"repeat": 4, "may_fail": True, "measure": False, "name": "Play"}
    said: dict[str, Any] = {"@id": "s", "needs": [], "check": check | {"any_order": True}, **alike}
    keys: dict[str, Any] = {"@id": "urn:x", "description": "d", "tags": ["a"], "cooldown": 60}
    keys["requires"] = {"tags": ["nvme"], "hosts": ["lab1"], "memory": "16GiB", "cores": 8.0}
    keys["requires"]["docker"] = True
    keys["resources"] = {"Toy": {"threads": 2}}
    case = one(tmp_path, {**step(makes="out", count=1), **said}, **keys)
    assert (case.id, case.description, case.tags, case.cooldown) == ("urn:x", "d", ("a",), 60.0)
    assert case.requires == Requires(("nvme",), ("lab1",), 2**34, 8, docker=True)
    assert isinstance(case.requires.cores, int)
    assert case.settings == keys["resources"]
    parameters = {"makes": "out", "count": 1}
    more: dict[str, Any] = {"parameters": parameters, "check": Check(**said["check"])}
    assert case.steps[0] == Step(1, "s", resource="Toy", command="play", **more, **alike)


def test_may_fail_alone_means_two_retries(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = [{"may_fail": True}, {"may_fail": True, "retries": 0}, {}]
    said += [{"may_fail": True, "retries": 5}, {"may_fail": False}, {"retries": 1}]
    case = one(tmp_path, *({**STEP, **keys} for keys in said))
    assert [step.retries for step in case.steps] == [2, 0, 0, 5, 0, 1]


def test_a_step_waits_for_the_one_before_it(tmp_path: Path) -> None:
    twice = {**STEP, "needs": ["step1", "step1"]}
    steps: list[dict[str, Any]] = [STEP, {**STEP, "@id": "b"}, {**STEP, "needs": []}, STEP, twice]
    needs = [s.needs for s in one(tmp_path, *steps).steps]
    assert needs == [(), ("step1",), (), ("step3",), ("step1",)]


def test_whole_numbers_are_counted_with(tmp_path: Path) -> None:
    [step] = one(tmp_path, {**STEP, "retries": 2.0, "warmup": 1.0, "repeat": 3.0}).steps
    assert [type(n) for n in (step.retries, step.warmup, step.repeat)] == [int, int, int]
    assert list(range(step.repeat)) == [0, 1, 2]


# -- matrix


def test_each_point_of_a_matrix_is_a_case(tmp_path: Path) -> None:
    loaded = load_case(tmp_path, matrix={"scale": [0.01, 1], "fast": [True, False]})
    points = [f"scale={scale},fast={fast}" for scale in (0.01, 1) for fast in ("true", "false")]
    assert [case.title for case in loaded.cases] == [f"toys[{point}]" for point in points]
    assert loaded.cases[0].point == {"scale": 0.01, "fast": True}


def test_a_template_may_stand_for_any_key_of_a_step(tmp_path: Path) -> None:
    keys = ["timeout", "retries", "retry_delay", "may_fail", "measure", "warmup", "repeat"]
    matrix: dict[str, list[Any]] = {name: [1] for name in keys}
    matrix |= {"may_fail": [True], "measure": [False]}
    [made] = one(
        tmp_path, {**STEP, **{name: f"${{matrix.{name}}}" for name in keys}}, matrix=matrix
    ).steps
    assert (made.timeout, made.retries, made.may_fail, made.measure) == (1, 1, True, False)


def test_a_template_may_stand_in_all_else_that_a_case_says(tmp_path: Path) -> None:
    first = {**STEP, "@id": "load-${matrix.n}", "name": "Load ${matrix.n}"}
    second = {**STEP, "needs": ["load-${matrix.n}"]}
    keys: dict[str, Any] = {"resources": {"Toy": {"threads": "${matrix.n}"}}}
    keys |= {"tags": ["n${matrix.n}"], "cooldown": "${matrix.n}"}
    keys["requires"] = {"memory": "${matrix.n}GiB", "cores": "${matrix.n}"}
    case = load_case(tmp_path, first, second, matrix={"n": [1, 2]}, **keys).cases[1]
    assert (case.steps[0].name, case.steps[1].needs) == ("Load 2", ("load-2",))
    assert (case.settings, case.tags) == ({"Toy": {"threads": 2}}, ("n2",))
    assert (case.cooldown, case.requires) == (2.0, Requires(memory_bytes=2**31, cores=2))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("count", [1, "two", 2.5], "must be an integer, not a "),
        ("reads", ["a.csv", "b.csv"], "there is no file 'b.csv'"),
    ],
)
def test_what_is_wrong_at_a_point_names_the_point(
    tmp_path: Path, name: str, values: list[Any], message: str
) -> None:
    write(tmp_path / "data" / "shared", "").rename(tmp_path / "data" / "shared" / "a.csv")
    loaded = load_case(tmp_path, step(**{name: "${matrix.it}"}), matrix={"it": values})
    for value, (path, said) in zip(values[1:], problems(loaded), strict=True):
        assert path == f"$.steps[0].parameters.{name}"
        assert said.startswith(message)
        assert said.endswith(f" (at [it={value}])")


# -- problems


@pytest.mark.parametrize("wrong", [-1, 1e6, True, None, "long", "15", [], "${matrix.none}"])
def test_what_is_no_cooldown_is_told(tmp_path: Path, wrong: Any) -> None:
    [(path, _)] = problems(load_case(tmp_path, cooldown=wrong))
    assert path == "$.cooldown"


@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        ({"cores": -1}, "$.requires.cores: must be at least 1, not -1"),
        ({"cores": 0}, "$.requires.cores: must be at least 1, not 0"),
        ({"memory": -1}, "$.requires.memory: must be at least 1, not -1"),
        ({"memory": "lots"}, "$.requires.memory: 'lots' is no size; write it like"),
        ({"memory": "900PiB"}, "$.requires.memory: 900PiB is more than any host has"),
        ({"memory": True}, "$.requires.memory: must be an integer or a string"),
        ({"core": 8}, "$.requires.core: is unknown here; did you mean 'cores'?"),
        ({"hosts": []}, "$.requires.hosts: needs at least 1 element"),
        ({"docker": "yes"}, "$.requires.docker: "),
        ({"tags": "nvme"}, "$.requires.tags: must be an array, not a string"),
        ({"tags": ["a,b"]}, "$.requires.tags[0]: 'a,b' can be no testbed's tag"),
        ([], "$.requires: must be an object, not an array"),
    ],
)
def test_what_no_testbed_could_meet_is_a_problem(
    tmp_path: Path, requires: Any, expected: str
) -> None:
    # What another document had right hides nothing.
    assert load_case(tmp_path, requires={"memory": "16GiB", "tags": ["a"]}).cases
    [found] = problems(load_case(tmp_path, requires=requires))
    assert ": ".join(found).startswith(expected)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    wrong = {"cores": 0, "memory": -1, "disks": 3}
    assert len(problems(load_case(tmp_path, requires=wrong))) == 3


@pytest.mark.parametrize("key", ["matrix", "steps", "resources", "requires", "subject"])
def test_many_problems_hide_one_without_harm(tmp_path: Path, key: str) -> None:
    document = {"name": "toys", "steps": [STEP], "tags": [*range(2_000)], key: "odd"}
    found = problems(load(write(tmp_path, document), REGISTRY))
    assert found[-1] == ("$", "has more problems than these 500; mend them first")
    assert len(found) == 501


def test_all_problems_of_all_cases_are_one_error(tmp_path: Path) -> None:
    write(tmp_path / "a", "{")
    write(tmp_path / "b", {"name": "b", "steps": [{"resource": "Toi", "command": "play"}]})
    write(tmp_path / "c", {"name": "c", "steps": [STEP]})
    loaded = load_all(find_metadata(tmp_path), REGISTRY)
    assert [len(item.cases) for item in loaded] == [0, 0, 1]
    with pytest.raises(CaseError) as raised:
        raise_problems(loaded)
    assert str(raised.value) == "\n".join(raised.value.problems)
    files = [problem.partition(": ")[0] for problem in raised.value.problems]
    assert files == [f"{tmp_path}/{name}/metadata.json" for name in "ab"]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("{", "folder"),
        ({"name": "given", "steps": []}, "given"),
        ({"name": "", "steps": []}, "folder"),
        ({"name": "  ", "steps": []}, "folder"),
        ({"name": ["x"], "steps": []}, "folder"),
        ({"steps": []}, "folder"),
    ],
)
def test_what_cannot_be_loaded_has_a_name_nevertheless(
    tmp_path: Path, document: Any, name: str
) -> None:
    loaded = load(write(tmp_path / "folder", document), REGISTRY)
    assert (loaded.name, loaded.cases) == (name, ())


# -- finding


def test_cases_are_found_at_any_depth_in_order(tmp_path: Path) -> None:
    inside = ("b/data/shared", "b/results/run_1", ".hidden")
    for place in ("b", "a/z", "a", "a/b/c", "c.d", "data", *inside):
        write(tmp_path / place, "{}")
    found = [str(file.parent.relative_to(tmp_path)) for file in find_metadata(tmp_path)]
    # A folder named data outside of a case is just a folder.
    assert found == ["a", "a/b/c", "a/z", "b", "c.d", "data"]
    assert list(find_metadata(tmp_path / "nowhere")) == []


def test_linked_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "a", "{}")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "self").symlink_to(tmp_path)
    (tmp_path / "a" / "loop").symlink_to("loop")
    (tmp_path / "a" / "results").symlink_to(tmp_path)
    assert len(list(find_metadata(tmp_path))) == 1
    assert linked_folders(tmp_path) == [tmp_path / "b", tmp_path / "a" / "self"]


@pytest.mark.slow
def test_folders_deeper_than_python_recurses_are_no_trouble(tmp_path: Path) -> None:
    deepest = tmp_path / ("a/" * 1_200)
    parents = [deepest, *deepest.parents][:1_200]
    for folder in reversed(parents):
        folder.mkdir()
    (deepest / METADATA).write_text("{}")
    try:
        assert list(find_metadata(tmp_path)) == [deepest / METADATA]
    finally:  # pytest's own cleaning recurses
        (deepest / METADATA).unlink()
        for folder in parents:
            folder.rmdir()


# -- KROWN


@pytest.mark.skipif(
    not KROWN_SAMPLES.is_dir(), reason=f"KROWN's samples are not in {KROWN_SAMPLES}"
)
def test_samples_of_krown_are_cases_that_lack_only_their_resources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # classes in a folder resources here would be hinted at
    loaded = load_all(find_metadata(KROWN_SAMPLES), REGISTRY)
    names = "empty_0.0 join_duplicates_10_75.0 join_relation_1_15_50.0 namedgraph_0_1_1_1_True"
    assert sorted(item.name for item in loaded) == [*names.split(), "raw_100_2_0", "raw_10_2_0"]
    for item in loaded:
        assert problems(item) == [
            (f"$.steps[{n}].resource", f"unknown resource '{name}'; known: Toy{_KROWN}")
            for n, name in enumerate(("PostgreSQL", "RMLMapper"))
        ]
