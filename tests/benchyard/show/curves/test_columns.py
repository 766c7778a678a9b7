"""Samples as columns: what files tell, however large or damaged they are, and what is kept."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from benchyard.core.errors import RecordError
from benchyard.results.samples import read_sources
from benchyard.show.curves import sources
from benchyard.show.curves.sources import sources_of
from tests.benchyard.show.curves.conftest import MakeRun, host_rows, owned


def test_host_has_totals_rates_and_memory(make_run: MakeRun) -> None:
    folder = make_run(host_rows(10, cpu_user_system=1.5, disk_read_bytes=100))
    [host] = read_sources(folder, 0.1)
    assert host.name == "host"
    assert len(host.at_s) == 101
    assert host.total("cpu_s")[-1] == pytest.approx(15.0)
    assert host.rate("cpu_s")[1:] == pytest.approx([1.5] * 100)
    assert np.isnan(host.rate("cpu_s")[0])
    assert host.memory == pytest.approx([1e9] * 101)
    assert np.isnan(host.total("network_sent_bytes")).all()


DAMAGES: Mapping[str, Callable[[str], str]] = {
    "cut off": lambda text: text[:-20],
    "half a row": lambda text: text + "words,1,2",
    "no number": lambda text: text.replace("3.0", "three", 1),
    "zeros": lambda text: text + "\0\0\0\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_rows_are_left_out(make_run: MakeRun, damage: str) -> None:
    folder = make_run(host_rows(10, cpu_user_system=1.5))
    file = folder / "metrics.csv"
    file.write_text(DAMAGES[damage](file.read_text()))
    [host] = read_sources(folder, 0.1)
    assert len(host.at_s) >= 99
    assert host.total("cpu_s")[-1] == pytest.approx(15.0, abs=0.2)


def test_a_counter_that_falls_begins_anew(make_run: MakeRun) -> None:
    rows = host_rows(2, cpu_user_system=1.0)
    for row in rows[10:]:
        row["cpu_user_system"] -= 1.0
    [host] = read_sources(make_run(rows), 0.1)
    total = host.total("cpu_s")
    assert (np.diff(total) >= 0).all()
    assert total[-1] == pytest.approx(1.9)


def test_what_belongs_to_a_resource_is_added_up(make_run: MakeRun) -> None:
    """A second process comes later, with a second of CPU already: that was not used here."""
    rows = [owned(n / 10, "1", n / 10, 100) for n in range(21)]
    rows += [owned(n / 10, "2", 1 + (n - 10) / 10, 50) for n in range(10, 21)]
    rows.sort(key=lambda row: row["timestamp"])
    _, database = read_sources(make_run(host_rows(2), rows), 0.1)
    assert database.name == "DB"
    assert database.total("cpu_s")[-1] == pytest.approx(2.0 + 1.0)
    assert database.rate("cpu_s")[15] == pytest.approx(2.0)
    assert database.memory[5] == 100
    assert database.memory[15] == 150


# -- kept


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_SMALL", 0)


@pytest.mark.usefixtures("keeping")
def test_what_is_kept_is_what_was_read(make_run: MakeRun, tmp_path: Path) -> None:
    rows = [owned(n / 10, "1", n / 10, "") for n in range(21)]
    folder = make_run(host_rows(2, cpu_user_system=1.5), rows)
    read = read_sources(folder, 0.1)
    for _ in range(2):
        kept = sources_of(folder, 0.1, tmp_path / "kept")
        assert [source.name for source in kept] == [source.name for source in read]
        for one, other in zip(kept, read, strict=True):
            assert np.array_equal(one.table, other.table, equal_nan=True)
    assert len(list((tmp_path / "kept").iterdir())) == 1


@pytest.mark.usefixtures("keeping")
def test_changed_files_are_read_anew(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(host_rows(2))
    sources_of(folder, 0.1, tmp_path / "kept")
    with (folder / "metrics.csv").open("a", newline="") as stream:
        writer = csv.writer(stream)
        header = (folder / "metrics.csv").read_text().splitlines()[0].split(",")
        writer.writerow(["9.5" if name == "timestamp" else "1" for name in header])
    [host] = sources_of(folder, 0.1, tmp_path / "kept")
    assert host.at_s[-1] == 9.5


@pytest.mark.usefixtures("keeping")
def test_room_is_bounded(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_ROOM", 1)
    folder, kept = make_run(host_rows(2)), tmp_path / "kept"
    sources_of(folder, 0.1, kept)
    [host] = sources_of(folder, 0.2, kept)
    assert len(list(kept.iterdir())) == 1
    assert len(host.at_s) == 21


@pytest.mark.usefixtures("keeping")
def test_a_file_without_samples_is_told(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run([])
    (folder / "metrics.csv").unlink()
    (folder / "metrics.csv").mkdir()
    with pytest.raises(RecordError, match="cannot be read"):
        sources_of(folder, 0.1, tmp_path / "kept")
