"""Load metadata.json files in one process, as KROWN does, or without any check, as the floor.

A program of its own, started by ``command_line``: ``peer_loading.py schema|json SCHEMA FOLDER``.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Load every file below the folder and print how many there were."""
    way, schema_file, root = sys.argv[1:]
    if way == "schema":
        import jsonschema  # noqa: PLC0415 - the floor must not pay for it

        schema: dict[str, Any] = json.loads(Path(schema_file).read_text())

        def check(document: Any) -> None:
            jsonschema.validate(document, schema)
    else:

        def check(document: Any) -> None:
            del document

    loaded = 0
    for folder, _, files in os.walk(root):
        if "metadata.json" in files:
            with Path(folder, "metadata.json").open() as stream:
                check(json.load(stream))
            loaded += 1
    print(loaded)


if __name__ == "__main__":
    main()
