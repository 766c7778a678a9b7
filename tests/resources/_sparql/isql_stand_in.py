#!/usr/bin/python3
"""Stands in for Virtuoso's isql: keeps the loader's list, and fails as the data asks it to.

A line ``crash`` in a file ends it with code 3, ``refuse`` is an error that its exit code does not
tell, ``broken`` one that only the list tells, ``hang`` keeps it for ever.
"""

import fcntl
import fnmatch
import json
import re
import sys
import time
from pathlib import Path

LIST = Path("/tmp/load_list.json")
LOG = Path("/tmp/isql.jsonl")


def main() -> int:
    with LOG.open("a") as log:
        log.write(json.dumps(sys.argv) + "\n")
    statements = sys.argv[-1].removeprefix("exec=")
    found = re.search(r"ld_dir\('(.*)', '(.*)', '(.*)'\)", statements)
    if found:
        folder, mask = Path(found[1]), found[2]
        names = [path.name for path in folder.iterdir() if path.is_file()]
        _save({f"{folder}/{name}": None for name in names if fnmatch.fnmatchcase(name, mask)})
        return 0
    if statements == "rdf_loader_run();":
        return _load()
    files = json.loads(LIST.read_text())
    errors = {file: error for file, error in files.items() if error != "ok"}
    sys.stdout.write(f"concat\n____\n\nbenchyard loaded {len(files) - len(errors)}\n\n")
    for file, error in errors.items():
        sys.stdout.write(f"benchyard failed {file}: {error or 'it was not loaded'}\n")
    return 0


def _load() -> int:
    while (file := _next()) is not None:
        text = Path(file).read_text()
        if "crash" in text:
            return 3
        if "refuse" in text:
            sys.stderr.write("*** Error 42000: [Virtuoso Driver] SR185: Undefined procedure\n")
            return 0
        if "hang" in text:
            time.sleep(600)
        _note(file, "37000 SP029: syntax error" if "broken" in text else "ok")
    return 0


def _next() -> str | None:
    with LIST.open("r+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        files = json.loads(LIST.read_text())
        found = next((file for file, state in files.items() if state is None), None)
        if found is not None:
            _save({**files, found: ""})
        return found


def _note(file: str, state: str) -> None:
    with LIST.open("r+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        _save({**json.loads(LIST.read_text()), file: state})


def _save(files: "dict[str, str | None]") -> None:
    LIST.write_text(json.dumps(files))


if __name__ == "__main__":
    sys.exit(main())
