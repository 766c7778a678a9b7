"""Which campaign a case's runs belong to, and whether it has enough of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchyard.core.files import shown
from benchyard.core.model import Case, Json, Outcome, object_in
from benchyard.core.quantity import moment
from benchyard.core.wording import runs_and
from benchyard.host.facts import git_state
from benchyard.results.campaigns import Campaign, finish_moving, read_campaign, set_aside
from benchyard.results.folders import Results
from benchyard.results.layout import Say, restore_replaced
from benchyard.results.record import RunRecord
from benchyard.results.subject import (
    Subject,
    commit_of,
    differences,
    in_words,
    package_changes,
    subject_of,
)
from benchyard.run.adaptive import declared, enough, other_rule
from benchyard.run.progress import Notice, tell
from benchyard.run.request import Campaigning, Request
from benchyard.run.run_context import RunContext


@dataclass(frozen=True, slots=True)
class CampaignChoice:
    """Whether a new campaign begins.

    Args:
        begins: Whether what is there is set aside.
        changed: Whether the reason is that something else would be measured now.
        said: What the user must know about it.
    """

    begins: bool
    changed: bool = False
    said: tuple[str, ...] = ()


def decide(
    case: Case,
    campaign: Campaign,
    asked: Campaigning,
    subject: Subject,
    flow_run: Mapping[str, Json] | None = None,
) -> CampaignChoice:
    """Decide whether a new campaign begins.

    Args:
        case: The case.
        campaign: What is in the case's results folder.
        asked: Which one is asked for.
        subject: What would be measured now.
        flow_run: The flow run that asks for a new one; if it made a run that is there, it has
            begun its campaign already, and goes on with it.
    """
    title = case.title
    there = done_where(campaign)
    if asked is Campaigning.NEW and campaign.runs_of(flow_run or {}):
        asked = Campaigning.AUTO
    damaged = tuple(
        f"{title}: run {run} is done again: {why}" for run, why in campaign.unreadable.items()
    )
    if not campaign.records:
        return CampaignChoice(begins=False, said=damaged)
    changes = in_words(campaign.changes(subject))
    if asked is Campaigning.NEW and not changes:
        return CampaignChoice(
            begins=True, said=(f"{title}: a new campaign begins; before it: {there}",)
        )
    if not changes:
        said = (*damaged, *_of_repository(case, campaign), *_unused(case, campaign, subject))
        return CampaignChoice(begins=False, said=said)
    if asked is Campaigning.KEEP:
        said = f"{title} goes on with runs of something else ({there}): {changes}"
        return CampaignChoice(begins=False, said=(said, *damaged))
    said = f"{title} has changed since {there}: {changes}; a new campaign begins (--keep goes on)"
    return CampaignChoice(begins=True, changed=asked is Campaigning.AUTO, said=(said,))


def _of_repository(case: Case, campaign: Campaign) -> tuple[str, ...]:
    """Say that the case's own repository has another commit: the case in it is the same."""
    facts: Mapping[str, Json] = campaign.newest.environment if campaign.newest is not None else {}
    before = object_in(facts, "git").get("commit")
    now = git_state(case.folder)["commit"] if before else None
    if not isinstance(before, str) or not isinstance(now, str) or before == now:
        return ()
    commits = f"{before[:10]} and {now[:10]}"
    return (f"{case.title}: its repository has another commit ({commits}), the case is the same",)


def _unused(case: Case, campaign: Campaign, subject: Subject) -> tuple[str, ...]:
    """Say that packages have changed that the runs did not import."""
    changes = package_changes(campaign.subject or {}, subject, decisive=False)
    said = f"{case.title}: packages that its runs did not import have changed: {in_words(changes)}"
    return (said,) if changes else ()


def done_where(campaign: Campaign) -> str:
    """Say which runs are done, where, when and of what: "runs 1-3 were done on HOST, DATE"."""
    newest = campaign.newest
    if newest is None:
        return "no run was done"
    subject = subject_of(newest)
    runs = runs_and(sorted(campaign.records), "was", "were")
    commit = commit_of(subject)
    of = f", commit {commit}" if commit else ""
    return f"{runs} done on {subject.get('host')}, {moment(newest.began)}{of}"


def nothing_to_do(title: str, campaign: Campaign, wanted: int) -> str:
    """Say that all runs are done, where, when and of what."""
    newest = campaign.newest
    if newest is None:
        return f"{title}: nothing to do"
    where = done_where(campaign).partition(" done on ")[2]
    alike = len(campaign.alike())
    others = len(campaign.records) - alike
    apart = f", and {others} of something else (told apart)" if others else ""
    return f"{title}: nothing to do: {min(alike, wanted)} of {wanted} done on {where}{apart}"


class OpenCampaign:
    """The campaign that runs are added to, under the testbed's lock.

    Args:
        campaign: What was there when the execution began, and is gone on with.
        changed: Whether a new one began because something else is measured now.
        keeps: Whether runs of something else are added, too.
    """

    def __init__(self, campaign: Campaign, *, changed: bool, keeps: bool) -> None:
        self.campaign = campaign
        self.changed = changed
        self._keeps = keeps
        self._set_aside = False
        self._first: Subject | None = campaign.subject

    @property
    def done(self) -> tuple[int, ...]:
        """Numbers of the runs that were finished before, ascending."""
        return tuple(sorted(self.campaign.records))

    def add(self, record: RunRecord, say: Say) -> bool:
        """Add a finished run; if it is of something else, set all before it aside.

        What a container's tag or a server means is only known once it was started.

        Returns:
            Whether the runs before it were set aside.
        """
        subject = subject_of(record)
        first, self._first = self._first, subject
        changes = () if first is None or self._keeps else differences(first, subject)
        if not changes:
            return False
        title = record.case.get("title")
        if self._set_aside:
            # Else it would never end, and set one run after the other aside.
            self._keeps = True
            say(
                f"{title}: what is measured differs from run to run ({in_words(changes)}); the "
                "runs are kept and told apart"
            )
            return False
        self._set_aside = True
        earlier = set_aside(self.campaign.folder, keep=(record.run,))
        where = "" if earlier is None else f", and the runs before it are in {shown(earlier)}"
        say(f"{title}: run {record.run} measured something else: {in_words(changes)}{where}")
        self.campaign = Campaign(self.campaign.folder)
        return True


def open_campaign(
    setting: RunContext, campaign: Campaign, asked: Campaigning, subject: Subject, say: Say
) -> OpenCampaign:
    """Decide which campaign runs belong to, tell of it, and set the earlier one aside.

    Runs that KROWN made are set aside too: its durations and ours do not compare. So is what cannot
    be read: another version of Benchyard may.
    """
    for runs, what in (
        (campaign.krown, ("is KROWN's", "are KROWN's")),
        (tuple(campaign.unreadable), ("cannot be read", "cannot be read")),
    ):
        others = Results(campaign.folder).runs().keys() - set(runs)
        earlier = set_aside(campaign.folder, keep=others) if runs else None
        if earlier is not None:
            told = runs_and(runs, *what)
            say(f"{setting.case.title}: {told} and set aside: see {shown(earlier)}")
    decision = decide(setting.case, campaign, asked, subject, setting.flow_run)
    earlier = set_aside(campaign.folder) if decision.begins else None
    for text in decision.said:
        say(text if earlier is None else f"{text}; the earlier runs are in {shown(earlier)}")
    left = Campaign(campaign.folder) if decision.begins else campaign
    return OpenCampaign(left, changed=decision.changed, keeps=asked is Campaigning.KEEP)


def settled_campaign(results: Path, say: Say) -> Campaign:
    """Finish what a killed lab left half done, and return the campaign that is there."""
    finish_moving(results)
    restore_replaced(results, say)
    return read_campaign(results)


def missing(wanted: Sequence[int], done: Sequence[int]) -> tuple[int, ...]:
    """Return the wanted runs that are not done, in the order in which they are wanted."""
    return tuple(run for run in wanted if run not in done)


class Precision:
    """Whether there are enough runs by the request's rule.

    Args:
        setting: What all runs have in common.
        request: Which runs are wanted, and by which rule.
        todo: Numbers of the runs that may be executed now.
        campaign: The finished runs, which these are added to.

    Attributes:
        reached: Whether no further run is wanted.
        setting: As given, with other rules that earlier runs were made under, for the records.
    """

    def __init__(
        self, setting: RunContext, request: Request, todo: Sequence[int], campaign: Campaign
    ) -> None:
        self._rule = request.rule
        self._from = datetime.min.replace(tzinfo=UTC)
        self.reached = False
        self.setting = setting
        kept: Mapping[int, RunRecord] = {} if request.force else campaign.records
        # Where each turn is one run, all that follow the last look find the same answer.
        self._tells = not todo or todo[0] - 1 in {0, *kept}
        left = [one for one in campaign.alike() if one.run in kept and one.run not in todo]
        self._earlier = sorted(left, key=lambda record: record.began)
        warning = other_rule(self._rule, self._earlier)
        if warning is None:
            return
        self.setting = replace(setting, adaptive=declared(self._rule, self._earlier))
        if self._tells and (not request.rest_first or other_rule(self._rule, self._earlier[-1:])):
            tell(setting.listener, Notice(f"{setting.case.title}: {warning}"))

    def needed(self, record: RunRecord) -> RunRecord:
        """Return what of a record is still asked for when the next run begins.

        The rest is on disk: a lab that executes thousands of runs must not grow with them.
        """
        if record.outcome is not Outcome.COMPLETED:
            return record
        steps = () if self._rule is None else record.steps
        return RunRecord(
            *(record.case, record.run, record.outcome),
            *(record.started_at, record.ended_at, record.duration_s),
            steps=steps,
            adaptive=record.adaptive,
        )

    def forget(self, before: RunRecord) -> None:
        """Leave out all runs before one, which were of something else."""
        self._earlier = []
        self._from = before.began

    def after(self, records: Sequence[RunRecord]) -> bool:
        """Tell whether no further run is wanted.

        Args:
            records: Of the runs executed now.
        """
        if self._rule is None:
            return False
        own = [record for record in records if record.began >= self._from]
        answer = enough(self._rule, [*self._earlier, *own])
        looked = answer.look is not None and answer.look == answer.runs
        if looked and (records or self._tells):
            tell(self.setting.listener, Notice(f"{self.setting.case.title}: {answer.why}"))
        self.reached = answer.stopped
        return answer.stopped
