import pytest

from benchyard.core.errors import InputError
from benchyard.publish.sinks.datastore.settings import Settings

VARIABLES = [
    "DATASTORE_DATASET",
    "DATASTORE_PROJECT_ID",
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
    "DATASTORE_EMULATOR_HOST",
    "BENCHYARD_DATASTORE_DATABASE",
    "BENCHYARD_DATASTORE_NAMESPACE",
]


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_without_variables_everything_is_the_default() -> None:
    assert Settings.from_environment() == Settings(None, "", "", None)


def test_all_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "lab")
    monkeypatch.setenv("DATASTORE_EMULATOR_HOST", "localhost:8081")
    monkeypatch.setenv("BENCHYARD_DATASTORE_DATABASE", "bench")
    monkeypatch.setenv("BENCHYARD_DATASTORE_NAMESPACE", "team-a")
    settings = Settings.from_environment()
    settings.check()
    assert settings == Settings("lab", "bench", "team-a", "localhost:8081")


def test_an_empty_variable_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    assert Settings.from_environment() == Settings(None, "", "", None)


def test_the_most_special_name_of_the_project_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "general")
    monkeypatch.setenv("DATASTORE_PROJECT_ID", "special")
    assert Settings.from_environment().project == "special"


def test_the_default_database_may_be_written_as_google_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BENCHYARD_DATASTORE_DATABASE", "(default)")
    assert not Settings.from_environment().database


def test_an_emulator_may_be_written_as_an_address_of_the_web(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATASTORE_EMULATOR_HOST", "http://127.0.0.1:8081/")
    assert Settings.from_environment().emulator == "127.0.0.1:8081"


@pytest.mark.parametrize("address", ["localhost:8081", "[::1]:8081", "10.0.0.1:1", "a-b.c:65535"])
def test_addresses(address: str) -> None:
    Settings("p", emulator=address).check()


@pytest.mark.parametrize("address", ["localhost", "::1", ":8081", "a b:1", "https://host:1", "h:x"])
def test_an_address_that_can_not_be_is_said(address: str) -> None:
    with pytest.raises(InputError, match=r"DATASTORE_EMULATOR_HOST is .* host:port"):
        Settings("p", emulator=address).check()


@pytest.mark.parametrize("name", ["__system__", "a" * 101, "a/b", "ä"])
def test_a_namespace_that_can_not_be_is_said(name: str) -> None:
    with pytest.raises(InputError, match="BENCHYARD_DATASTORE_NAMESPACE"):
        Settings("p", namespace=name).check()


@pytest.mark.parametrize("name", ["abc", "Bench", "-bench", "bench-", "a" * 64, "be/nch"])
def test_a_database_that_can_not_be_is_said(name: str) -> None:
    with pytest.raises(InputError, match="BENCHYARD_DATASTORE_DATABASE"):
        Settings("p", database=name).check()
