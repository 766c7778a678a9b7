"""Hostile texts are texts, on every page and picture that links lead to."""

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, urljoin
from xml.etree.ElementTree import fromstring

from benchyard.results.attempts import note_ended
from benchyard.results.folders import LOG_FILE
from benchyard.results.record import ErrorRecord
from tests.benchyard.analysis.comparison.conftest import BASE, failed, place, run, step
from tests.benchyard.catalogue.formats.samples import HYPERFINE, write
from tests.benchyard.web.site import Site

HOSTILE = '<script>alert(1)</script><b>/c?d#e% "\' onclick="x" $x^2$ &\u202e\x1b[31m'
KINDS = {
    *("/", "/runs", "/cases", "/failures", "/compare", "/testbeds", "/testbeds/difference"),
    *("/case/ID", "/run/ID", "/entry/ID", "/entry/ID/flame"),
    *("/case/ID/history.svg", "/case/ID/runs.svg", "/compare/points.svg"),
    *("/case/ID/report.html", "/compare/report.html"),
}


def explored(root: Path) -> Site:
    """Explore two cases and files of others, all of whose texts are hostile."""
    about = {
        "case": dict.fromkeys(("name", "title", "description"), HOSTILE) | {"tags": [HOSTILE]},
        "environment": dict.fromkeys(("host", "kernel", HOSTILE), HOSTILE),
        "resources": {HOSTILE: {"version": HOSTILE}},
        "subject": {"versions": {HOSTILE: {"version": HOSTILE}}, "host": HOSTILE, "digest": "x"},
        "warnings": (HOSTILE,),
        "outputs": ({"path": f"{HOSTILE}/x", "bytes": 1, "sha256": HOSTILE},),
        "preflight": (dict.fromkeys(("check", "status", "finding", "advice"), HOSTILE),),
    }
    for folder in (root / "old", root / "<i>new"):
        made = [run(n, step(d, name=HOSTILE), **about) for n, d in enumerate(BASE, 1)]
        broken = run(9, failed(HOSTILE), error=ErrorRecord(HOSTILE, HOSTILE), **about)
        place(folder, [*made, broken])
        note_ended(folder, broken)
        with (folder / "tries.jsonl").open("a") as tries:
            tries.write(f"{HOSTILE}\n")
        (folder / "run_9" / LOG_FILE).write_text(HOSTILE)
    result = {**HYPERFINE["results"][0], "command": HOSTILE, "parameters": {HOSTILE: HOSTILE}}
    write(root, "<b>h&h</b>.json", json.dumps({"results": [result]}).encode())
    write(root, "<i>.folded", f"{HOSTILE.replace(' ', '')} 3\n".encode())
    return Site(root)


def test_hostile_texts_are_texts_wherever_links_lead(tmp_path: Path) -> None:
    site = explored(tmp_path)
    sides = "&".join(f"side={case.id}" for case in site.catalogue.cases())
    host, name = f"/testbed/{quote(HOSTILE, safe='')}", quote(HOSTILE)
    waiting = ["/", f"/runs?q={name}", f"/failures?since=2025-12-01&host={name}"]
    waiting += [f"/compare?{sides}", f"/testbeds/difference?a={name}&b={name}", f"{host}/facts.csv"]
    seen: dict[str, int] = {}
    told = set[str]()
    while waiting:
        address = waiting.pop(0)
        kind = re.sub("[0-9a-f]{16}", "ID", address.partition("?")[0])
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] > 2 or re.search(r"\.(json|md|png)$|^/static/|/file/", kind):
            continue
        answer = site.client.get(address)
        assert answer.status_code in (200, 422), address
        if kind.endswith((".csv", "/log")):
            continue
        text = answer.text
        assert not re.search(r'<script>alert|<[bi]>|\sonclick="|\x1b|\u202e', text), address
        told |= {kind} if "alert(1)" in text.lower() else set()
        if kind.endswith(".svg"):
            fromstring(text)  # noqa: S314 - it is our own
        links = re.findall(r'(?:href|src|srcset)="([/?][^"# ]*)', text)
        waiting += [urljoin(address, unescape(link)) for link in links]
    assert told >= KINDS
    assert host in seen
