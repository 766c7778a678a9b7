"""What the flow run of a case says of itself to the suite that it is a turn of, as one text.

Its results lie on its testbed, where the suite cannot look.
"""

import json
from dataclasses import asdict, dataclass

from benchyard.analysis.regressions import Looked, Regression
from benchyard.core.json_text import decoded
from benchyard.results.typed import read_as
from benchyard.suite.turn_records import NO_FAILURE, TurnFailure

#: More are in the comparison's page; the text is kept in the server's database.
_MOST_REGRESSIONS = 100


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What became of one turn.

    Args:
        runs: Numbers of the finished runs that the flow run executed.
        looked: What it came to against the baseline; None if it was not compared.
        failure: How it failed, if it did.
    """

    runs: tuple[int, ...]
    looked: Looked | None = None
    failure: TurnFailure = NO_FAILURE

    def to_text(self) -> str:
        """Write it."""
        looked = self.looked
        regressions = looked.regressions[:_MOST_REGRESSIONS] if looked else ()
        told = {
            "runs": [*self.runs],
            "failure": asdict(self.failure),
            "summary": looked and looked.summary,
            "against": looked and looked.against,
            "p_values": [*(looked.p_values if looked else ())],
            "unjudged": [*(looked.unjudged if looked else ())],
            "regressions": [one.to_json() for one in regressions],
        }
        return json.dumps(told)


def report_of(text: object) -> CaseReport | None:
    """Read a report; None if there is none that can be read."""
    try:
        told = decoded(str(text).encode())
        runs = tuple(int(run) for run in told["runs"])
        worse = tuple(read_as(Regression, one) for one in told["regressions"])
        failure = read_as(TurnFailure, told.get("failure", {}))
        summary = told["summary"]
        p_values = tuple(float(p) for p in told.get("p_values", ()))
        looked = Looked(
            *(worse, str(summary), str(told["against"])),
            p_values=p_values,
            unjudged=tuple(map(str, told.get("unjudged", ()))),
        )
        looked = None if summary is None else looked
    except (ValueError, KeyError, TypeError):
        return None
    return CaseReport(runs, looked, failure)
