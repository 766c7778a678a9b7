"""What a check says: how it stands, what was found in figures, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum

from benchyard.core.model import JsonObject


class Status(StrEnum):
    """How a check stands.

    ``fail``: numbers taken now would be wrong, or the run would break. ``warn``: they would be
    noisier than they need be, or biased; or something is kept from being measured. ``unknown``:
    the host does not tell, so a reader cannot rely on it. ``ok``: nothing speaks against it.
    """

    FAIL = "fail"
    WARN = "warn"
    UNKNOWN = "unknown"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        check: Its name, the same on every host.
        finding: What was found, with figures.
        advice: What to do, with the command where there is one; "" if there is nothing to do.
    """

    check: str
    status: Status
    finding: str
    advice: str = ""

    def to_json(self) -> JsonObject:
        """Return it for the record."""
        return {
            "check": self.check,
            "status": self.status.value,
            "finding": self.finding,
            "advice": self.advice,
        }


def ok(check: str, finding: str) -> Finding:
    """Say that nothing speaks against measuring."""
    return Finding(check, Status.OK, finding)


def warn(check: str, finding: str, advice: str) -> Finding:
    """Say that numbers would suffer."""
    return Finding(check, Status.WARN, finding, advice)


def fail(check: str, finding: str, advice: str) -> Finding:
    """Say that numbers would be wrong."""
    return Finding(check, Status.FAIL, finding, advice)


def unknown(check: str, finding: str, advice: str = "") -> Finding:
    """Say that the host does not tell."""
    return Finding(check, Status.UNKNOWN, finding, advice)


def size(amount: float) -> str:
    """Write bytes with the decimal unit that suits them."""
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 999.5:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:,.1f} TB"


def some(items: list[str], most: int = 3) -> str:
    """List a few of many."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more} more" if more > 0 else "")
