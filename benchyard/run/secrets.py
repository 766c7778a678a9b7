"""``${env:NAME}`` and ``${secret:NAME}``: resolved at the last moment, kept out of every text."""

import json
import os
import re
import uuid
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from benchyard.core.errors import ResourceError
from benchyard.core.files import files_below
from benchyard.core.model import Json, mapped
from benchyard.core.redaction import Redaction, Stream

_REFERENCE = re.compile(r"(?<!\$)\$\{(env|secret):([^{}]+)\}|\$(\$\{)")
#: Bytes of a file that are in memory at a time.
_PIECE = 1 << 20

#: Gives the value of a secret by name; raises ``KeyError`` if there is none.
Provider = Callable[[str], str]


def no_secrets(name: str) -> str:
    """Stand in where no store of secrets is at hand.

    Raises:
        KeyError: Always.
    """
    raise KeyError(name)


def refers_to_secrets(value: Json) -> bool:
    """Tell whether ``${secret:NAME}`` stands anywhere in a value."""
    return any(kind == "secret" for kind, *_ in _REFERENCE.findall(json.dumps(value)))


class Secrets:
    """Resolves references, and remembers the values in order to take them out of texts.

    Args:
        provider: Gives the values of ``${secret:NAME}``.
        environment: Gives the values of ``${env:NAME}``.
    """

    def __init__(
        self, provider: Provider = no_secrets, environment: Mapping[str, str] | None = None
    ) -> None:
        self._provider = provider
        self._environment = os.environ if environment is None else environment
        self._redaction = Redaction()

    def resolve(self, value: Json) -> Json:
        """Return ``value`` with every reference replaced, and ``${`` in place of ``$${``.

        Raises:
            ResourceError: If a variable or secret is not there.
        """

        def replaced(found: re.Match[str]) -> str:
            return found[3] or self._value(found[1], found[2])

        return mapped(value, lambda text: _REFERENCE.sub(replaced, text))

    def _value(self, kind: str, name: str) -> str:
        try:
            value = self._environment[name] if kind == "env" else self._provider(name)
        except KeyError:
            what = "environment variable" if kind == "env" else "Prefect secret block"
            raise ResourceError(
                f"the {what} '{name}' that the case refers to is not there; set it"
            ) from None
        if value:
            self._redaction.add(value)
        return value

    def redact(self, text: str) -> str:
        """Return ``text`` with the value of every resolved secret taken out."""
        return self._redaction.redact(text)

    def exposed(self) -> list[str]:
        """Return a warning for each program on whose command line a secret stood."""
        return [
            f"a secret was among the arguments of '{program}', where who may list this host's "
            "processes could read it"
            for program in sorted(self._redaction.exposing)
        ]

    def redact_files(self, folder: Path) -> list[Path]:
        """Take the secrets out of the files below a folder; return those that held one.

        Raises:
            OSError: If the disk is full or not writable.
        """
        forms = self._redaction.forms
        return [path for path in files_below(folder) if forms and _redacted(path, forms)]

    def redact_json(self, value: Json) -> Json:
        """Return ``value`` with every string redacted, names included."""
        return mapped(value, self.redact, self.redact)


def _redacted(path: Path, forms: Collection[str]) -> bool:
    """Write a file anew without secrets, piece by piece: it may be larger than the memory."""
    beside = path.with_name(f".{uuid.uuid4().hex}")
    try:
        stream, changed = Stream(forms), False
        with path.open("rb") as old, beside.open("wb") as new:
            while piece := old.read(_PIECE):
                new.write(stream.feed(piece))
            new.write(stream.finish())
            changed = stream.found
        if changed:
            beside.replace(path)
        return changed
    finally:
        beside.unlink(missing_ok=True)
