"""Load metadata.json files in one process: as KROWN does, better than that, or without any check.

A program of its own, started by ``command_line``: ``peer_loading.py WAY SCHEMA FOLDER``. The ways:
``each``, ``jsonschema.validate`` for each file, which is KROWN's and checks the schema itself each
time too; ``once``, a validator made once; ``none``, ``json.load`` alone.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _checker(way: str, schema_file: Path) -> Callable[[Any], None]:
    if way == "none":
        return lambda _document: None
    import jsonschema  # noqa: PLC0415 - the floor must not pay for it

    schema: dict[str, Any] = json.loads(schema_file.read_text(encoding="utf-8"))
    if way == "each":
        return lambda document: jsonschema.validate(document, schema)
    validator: Any = jsonschema.Draft202012Validator(schema)
    return validator.validate


def main() -> None:
    """Load every file below the folder and print how many there were."""
    way, schema, root = sys.argv[1:]
    check = _checker(way, Path(schema))
    loaded = 0
    for folder, _, files in os.walk(root):
        if "metadata.json" in files:
            with Path(folder, "metadata.json").open(encoding="utf-8") as stream:
                check(json.load(stream))
            loaded += 1
    print(loaded)


if __name__ == "__main__":
    main()
