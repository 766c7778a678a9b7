"""Medians as OpenMetrics text, which GitLab compares between branches (``reports: metrics``).

Source: https://prometheus.io/docs/specs/om/open_metrics_spec/, version 1.0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.wording import printable
from benchyard.show.ci.checks import interval_of
from benchyard.show.ci.outcomes import CaseOutcome
from benchyard.show.steps_table import Document

Sample = tuple[Mapping[str, str], float]


def openmetrics(outcomes: Sequence[CaseOutcome]) -> str:
    """Return gauges of each measured step, labelled with ``case`` and the step's id, and of cases.

    A metric that a command reports has the label ``metric``, and the unit that its name tells.
    """
    steps = [(one.title, step) for one in outcomes for step in one.steps if step.get("measured")]
    families: list[tuple[str, str, str, Iterable[Sample]]] = [
        ("step_median_seconds", "seconds", "Median time of a step.", _medians(steps)),
        ("step_low_seconds", "seconds", "Lower end of the median's interval.", _ends(steps, 0)),
        ("step_high_seconds", "seconds", "Upper end of the median's interval.", _ends(steps, 1)),
        ("step_runs", "", "Runs that the median is of.", _counts(steps)),
        ("step_reported", "", "Median of what a command reported.", _reported(steps)),
        ("failed_runs", "", "Runs that are not done.", _of_cases(outcomes, "failed")),
        ("regressions", "", "What is worse than in the baseline.", _of_cases(outcomes, "worse")),
    ]
    lines = [line for family in families for line in _family(*family)]
    return "\n".join([*lines, "# EOF", ""])


def _family(name: str, unit: str, says: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# TYPE benchyard_{name} gauge"
    if unit:
        yield f"# UNIT benchyard_{name} {unit}"
    yield f"# HELP benchyard_{name} {says}"
    for labels, value in samples:
        told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        yield f"benchyard_{name}{{{told}}} {value!r}"


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


Steps = Sequence[tuple[str, Document]]


def _labels(title: str, step: Document) -> dict[str, str]:
    return {"case": title, "step": str(step["id"])}


def _median(metric: Document) -> float | None:
    statistics: Document = metric.get("statistics") or {}
    return statistics.get("median")


def _medians(steps: Steps) -> Iterator[Sample]:
    for title, step in steps:
        metrics: Mapping[str, Document] = step.get("metrics") or {}
        value = _median(metrics.get(DURATION) or {})
        if value is not None:
            yield _labels(title, step), value


def _ends(steps: Steps, end: int) -> Iterator[Sample]:
    for title, step in steps:
        interval = interval_of(step)
        if interval is not None:
            yield _labels(title, step), interval[end]


def _counts(steps: Steps) -> Iterator[Sample]:
    for title, step in steps:
        yield _labels(title, step), len(step.get("runs") or ())


def _reported(steps: Steps) -> Iterator[Sample]:
    for title, step in steps:
        metrics: Mapping[str, Document] = step.get("metrics") or {}
        for name, metric in metrics.items():
            value = _median(metric)
            if metric.get("source") == "command" and value is not None:
                yield {**_labels(title, step), "metric": name}, value


def _of_cases(outcomes: Sequence[CaseOutcome], what: str) -> Iterator[Sample]:
    for one in outcomes:
        number = len(one.failed) if what == "failed" else len(one.regressions)
        if what == "failed" or one.looked is not None:
            yield {"case": one.title}, number
