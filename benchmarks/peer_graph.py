"""How Batch Shipyard's ``cascade/graph.py`` puts events together, written again: its peer's way.

Same steps and same growth, none of its text: every event is kept as a dictionary below its node
and its event's name, each start is looked for among all ends of its node from the first one on,
and times are read as local ones. What it cannot stand (a missing end, say) raises here too.

Source: Azure/batch-shipyard, cascade/graph.py (coalesce_data).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

_UNITS = {"kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
#: What is paired image by image: start, end, what it is called, whether its size counts.
_PAIRS = (
    ("cascade:pull-start", "cascade:pull-end", "pull:", True),
    ("cascade:save-start", "cascade:save-end", "save:", True),
    ("cascade:torrent-start", "cascade:load-start", "torrent:", False),
    ("cascade:load-start", "cascade:load-end", "load:", True),
)

Timings = dict[str, dict[str, float]]


def put_together(rows: Iterable[Mapping[str, Any]]) -> tuple[Timings, dict[str, int]]:
    """Return each node's durations (s) by what they are of, and the images' sizes (B).

    Raises:
        KeyError, IndexError, ValueError, RuntimeError: As the original, for what is not complete.
    """
    nodes: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        event: dict[str, Any] = {
            "timestamp": datetime.fromtimestamp(float(row["RowKey"])),  # noqa: DTZ006 - as there
            "message": _message(row["Event"], row["Message"]) if "Message" in row else None,
        }
        nodes.setdefault(row["NodeId"], {}).setdefault(row["Event"], []).append(event)
    sizes: dict[str, int] = {}
    return {node: _durations(told, sizes) for node, told in nodes.items()}, sizes


def _message(event: str, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {}
    for part in text.split(","):
        name, value, *_ = part.split("=")
        if name == "size" and event == "cascade:pull-end":
            number, unit = value.split()
            message[name] = int(float(number) * _UNITS.get(unit, 1))
        elif name in ("size", "nglobalresources"):
            message[name] = int(value)
        else:
            message[name] = float(value) if name == "diff" else value
    return message


def _durations(told: dict[str, list[dict[str, Any]]], sizes: dict[str, int]) -> dict[str, float]:
    found = {
        "nodeprep": _between(told, ("nodeprep:start", 0), ("nodeprep:end", 0)),
        "global_resources_loaded": _between(told, ("cascade:start", 0), ("cascade:gr-done", 0)),
    }
    # Its own defaults where there is no private registry and no container.
    for what, start, end, otherwise in (
        ("docker_install", "nodeprep:start", "privateregistry:start", found["nodeprep"]),
        ("private_registry_setup", "privateregistry:start", "privateregistry:end", 0.0),
        ("docker_shipyard_container_pull", "shipyard:pull-start", "shipyard:pull-end", 0.0),
    ):
        try:
            found[what] = _between(told, (start, 0), (end, 0))
        except KeyError:
            found[what] = otherwise
    for start, end, prefix, with_size in _PAIRS:
        if start in told:
            _pair(told, start, end, prefix, found, sizes if with_size else None)
    return found


def _between(
    told: dict[str, list[dict[str, Any]]], start: tuple[str, int], end: tuple[str, int]
) -> float:
    last = told[end[0]][end[1]]
    try:
        return last["message"]["diff"]
    except (TypeError, KeyError):
        first = told[start[0]][start[1]]
        return (last["timestamp"] - first["timestamp"]).total_seconds()


def _pair(
    told: dict[str, list[dict[str, Any]]],
    start: str,
    end: str,
    prefix: str,
    found: dict[str, float],
    sizes: dict[str, int] | None,
) -> None:
    if start == "cascade:torrent-start" and end not in told:
        return
    for i in range(len(told[start])):
        image = told[start][i]["message"]["img"]
        for j in range(len(told[end])):
            if told[end][j]["message"]["img"] == image:
                found[prefix + image] = _between(told, (start, i), (end, j))
                if sizes is not None and image not in sizes:
                    # The place among the ends serves for the starts, too: its defect.
                    by = start if start == "cascade:load-start" else end
                    if "size" in told[by][j]["message"]:
                        sizes[image] = told[by][j]["message"]["size"]
                break
        else:
            if start != "cascade:torrent-start":
                raise RuntimeError(f"{start} of {image} has no end")
