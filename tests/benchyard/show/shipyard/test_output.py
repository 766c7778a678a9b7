"""What is shown: columns for gnuplot, the document, tables, pictures."""

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchyard.show.shipyard.document import COLUMNS, dat, document
from benchyard.show.shipyard.nodes import Graph
from benchyard.show.shipyard.plot import graph_drawing
from benchyard.show.shipyard.tables import notes, summary, tables
from tests.benchyard.show.shipyard.conftest import START, graph_of, pool, prepared, pulled, row


@pytest.fixture
def torn() -> Graph:
    """One whole node, one with a pull that is unfinished, one that is still prepared."""
    rows = prepared("whole") + pulled("whole", "i", START + 200)
    rows += prepared("pulling", START + 10) + pulled("pulling", "i", START + 220, 10)
    rows += pulled("pulling", "j", START + 230)[:1]
    rows += [row(START + 20, "young", "nodeprep:start", "offer=ubuntuserver,sku=16.04.0-lts")]
    return graph_of([*rows, row(START, "whole", "my:event"), row("x", "whole", "my:event")])


# -- columns


def test_columns_are_the_originals_to_its_digits() -> None:
    graph = graph_of(pool(5, 6))
    header, *lines = dat(graph).splitlines()
    assert header == (
        "NodePrepStartTime NodeId NodePrep+DockerInstall PrivateRegistrySetup "
        "ShipyardContainerPull GlobalResourcesLoad TotalPull TotalSave TotalLoad TotalTorrent"
    )
    for line, node in zip(lines, graph.nodes, strict=True):
        at, name, *cells = line.split()
        assert re.fullmatch(r"2016-11-18-19:\d\d:\d\d\.\d{6}", at)
        assert name == node.name
        # The property of ``test_assembling`` says that these are the original's.
        own = [node.column(operation) for operation in COLUMNS.values()]
        assert list(map(float, cells)) == pytest.approx(own, abs=1e-5)
        assert [len(cell.partition(".")[2]) for cell in cells[4:]] == [5] * 4


def test_what_is_unfinished_is_no_number_in_the_columns(torn: Graph) -> None:
    whole, pulling, young = (line.split()[2:] for line in dat(torn).splitlines()[1:])
    assert "nan" not in whole
    assert pulling == ["120.5", "0.0", "5.0", "1000.0", "nan", "9.50000", "5.25000", "8.00000"]
    assert young == ["nan", "0.0", "0.0", "nan", *["0.00000"] * 4]


# -- the document


def test_the_document_has_null_for_what_is_unfinished(torn: Graph) -> None:
    made: Any = json.loads(json.dumps(document(torn, ["rows.jsonl"]), allow_nan=False))
    whole, pulling, young = made["nodes"]
    assert (whole["finished"], whole["pull"]["total_s"], whole["acquisition_s"]) == (
        True,
        30.0,
        43.25,
    )
    assert pulling["pull"]["finished"] == pulling["pull"]["unfinished"] == 1
    assert [one["duration_s"] for one in pulling["pull"]["images"]] == [10.0, None]
    assert (pulling["unfinished"], pulling["acquisition_s"]) == (["pull j"], None)
    assert (young["docker_install_s"], young["ready_at"]) == (None, None)
    assert (whole["offer"], whole["sku"]) == ("ubuntuserver", "16.04.0-lts")
    assert whole["ready_at"] == "2016-11-18T19:54:04.250000+00:00"
    assert made["read"]["unknown"] == {"my:event": 1}
    assert made["read"]["unreadable"] == 1


def test_figures_are_over_the_nodes_that_have_a_value(torn: Graph) -> None:
    made: Any = document(torn, [])
    totals = made["totals"]
    install, pulls = totals["nodes"]["docker_install"], totals["nodes"]["pull"]
    assert [install[key] for key in ("count", "missing", "total_s", "mean_s")] == [2, 1, 241, 120.5]
    assert (pulls["count"], pulls["total_s"]) == (2, 30.0)
    spreads = [totals[what] for what in ("starts", "ready")]
    assert [one["spread_s"] for one in spreads] == [20.0, 10.0]
    assert [one["variance_s2"] for one in spreads] == [100.0, 50.0]
    images = {(one["image"], one["operation"]): list(one.values())[2:] for one in made["images"]}
    assert images["i", "pull"] == [2, 0, 125_100_000, 40, 20, 10, 30]
    assert images["j", "pull"] == [0, 1, None, 0, None, None, None]


# -- tables


def test_tables_say_what_is_unfinished(torn: Graph) -> None:
    table = next(tables(torn))
    heads = [*("INSTALL", "CONTAINER", "RESOURCES", "PULLS", "SAVES", "LOADS", "TORRENTS")]
    assert table.heads[3:] == [*heads, "UNFINISHED"]
    shown = [dict(zip([c.head for c in table.columns], row, strict=True)) for row in table.rows]
    assert [one["UNFINISHED"] for one in shown] == ["", "pull j", "preparation"]
    assert [one["PULLS"] for one in shown] == [30.0, 10.0, None]
    assert [shown[2][head] for head in ("AFTER", *heads[:3])] == [20.0, None, None, None]
    assert summary(torn)[0] == "3 nodes, 2 unfinished"
    assert notes(torn)[0] == "events that are not shown: my:event (1)"
    assert "RowKey is x" in notes(torn)[2]


# -- pictures


def texts(svg: str) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - drawn here
    return [text for element in root.iter() if (text := (element.text or "").strip())]


def test_an_svg_names_every_node_also_those_that_start_at_once() -> None:
    rows = prepared("one") + prepared("two") + prepared("three", START + 5, registry=True)
    found = texts(graph_drawing(graph_of(rows), "batch$pool$1").svg())
    assert {"one  first", "two  first", "three  +5.00 s", "batch$pool$1"} <= set(found)
    assert {"node preparation", "private registry", "container pull", "global resources"} <= set(
        found
    )
    assert "unfinished" not in found


def test_what_is_unfinished_is_hatched_and_said(torn: Graph) -> None:
    svg = graph_drawing(torn, "pool").svg()
    assert "<pattern" in svg
    assert {"unfinished", "1 unfinished"} <= set(texts(svg))
