"""Reports: one fact becomes an answer, and a change if it is one."""

from typing import Final

import msgspec
from msgspec.structs import replace

from milepost.domain.clocks import clock_mark
from milepost.domain.decide import decide
from milepost.domain.facts import Fact
from milepost.domain.lifecycle import STEP_FACTS, ends
from milepost.domain.outcomes import Accepted, Decision, Merged, Refused, Repeated, Stale
from milepost.domain.state import TaskKey, TaskState
from milepost.domain.trace import evidence_of
from milepost.ports.storage import EventKey, Remembered, SeqKey, Wanted
from milepost.usecases.directives import directives
from milepost.usecases.ledger import Ledger
from milepost.usecases.refusals import rejection
from milepost.usecases.rulebook import Rulebook
from milepost.wire.answers import ReportAnswer, StepStatus
from milepost.wire.numbers import instant
from milepost.wire.problems import Rejection

_answer: Final = msgspec.json.Decoder(ReportAnswer).decode
_encode: Final = msgspec.json.Encoder().encode


class Report:
    """One reported fact on its way into a batch."""

    __slots__ = ("_fact", "_judged_by", "_refuses_suspect", "_rulebook", "key")

    def __init__(
        self, fact: Fact, rulebook: Rulebook, *, judged_by: str | None = None, refuses_suspect: bool = False
    ) -> None:
        """`judged_by` is the definition whose schema judged the fact's data before it came here.

        `refuses_suspect`: a fact whose clock cannot be right is refused instead of marked.
        """
        self.key = TaskKey(fact.tenant_id, fact.task_id)
        self._fact = fact
        self._rulebook = rulebook
        self._judged_by = judged_by
        self._refuses_suspect = refuses_suspect

    def wanted(self, state: TaskState | None) -> Wanted:
        """The answer this event id was given before, whose an older sequence is, and a definition not at hand."""
        definitions = self._rulebook.unknown(state)
        event = EventKey(self._fact.tenant_id, self._fact.event_id)
        place = SeqKey.of(self._fact)
        if state is None or place is None or not _behind(state, self._fact):
            return Wanted(events=(event,), definitions=definitions)
        return Wanted(events=(event,), sequences=(place,), definitions=definitions)

    def decide(self, ledger: Ledger) -> ReportAnswer | Rejection:
        """The answer to the fact on the state its predecessors in the batch have left."""
        fact = self._fact
        state = ledger.state(self.key)
        if state is None:
            return Rejection("TASK_UNKNOWN", "No such task here; it may not be created yet.")
        if state.task.deleted_at is not None:
            return Rejection("TASK_DELETED", "The task was deleted.")
        before = ledger.answer(EventKey(fact.tenant_id, fact.event_id))
        if before is not None:
            return _again(before, fact, state)
        if self._refuses_suspect and _suspect(fact, state):
            return Rejection.at("/occurredAt", "FIELD_INVALID", "The producer's clock cannot be right.")
        if fact.data is not None and state.task.definition_id != self._judged_by:
            # Another task of this id was met when the data was judged: the database has been restored in between.
            return Rejection("UNAVAILABLE", "The task was replaced just now; send the same event again.", retry_after=1)
        place = SeqKey.of(fact)
        owner = ledger.owner(place) if place is not None else None
        decision = decide(state, fact, self._rulebook.of(state.task, ledger.definitions), ledger.now, owner)
        if isinstance(decision, Refused):
            return _refused(ledger, state, fact, decision)
        return _answered(ledger, state, fact, decision)


def _suspect(fact: Fact, state: TaskState) -> bool:
    return clock_mark(fact.occurred_at, fact.received_at, fact.age_ms, state.task.created_at) is not None


def _behind(state: TaskState, fact: Fact) -> bool:
    """Whether the sequence may be taken already: only then is it worth a look into the log."""
    if ends(fact.event_type):
        return False
    seq = fact.source_seq or 0
    if fact.event_type not in STEP_FACTS:
        return state.task.source_seq is not None and seq <= state.task.source_seq
    step = state.steps.get(fact.step_id or "")
    return step is not None and seq <= step.source_seq


def _again(before: Remembered, fact: Fact, state: TaskState) -> ReportAnswer | Rejection:
    if before.payload_hash != fact.payload_hash:
        return Rejection("EVENT_ID_CONFLICT", "This event id was used for another event.")
    return replace(_answer(before.answer), duplicate=True, directives=directives(state, fact))


def _refused(ledger: Ledger, state: TaskState, fact: Fact, refused: Refused) -> Rejection:
    if refused.evidence is not None:
        ledger.note(evidence_of(fact, state, refused.evidence))
    return rejection(refused, state)


def _answered(ledger: Ledger, state: TaskState, fact: Fact, decision: Decision) -> ReportAnswer:
    """Records what the decision does, and the answer under the event's id; what the worker should do is told anew."""
    if isinstance(decision, Accepted):
        ledger.apply(decision)
    elif isinstance(decision, Merged):
        ledger.put(decision.step)
    elif isinstance(decision, Stale):
        ledger.note(evidence_of(fact, state, decision.reason))
    elif isinstance(decision, Repeated):
        ledger.note(evidence_of(fact, state, "TERMINAL_REPEATED"))
    after = ledger.state(TaskKey(fact.tenant_id, fact.task_id)) or state
    answer = _told(after, fact, decision, ledger.now)
    ledger.remember(Remembered(fact.tenant_id, fact.event_id, fact.payload_hash, _encode(answer), ledger.now))
    return replace(answer, directives=directives(after, fact))


def _told(state: TaskState, fact: Fact, decision: Decision, now: int) -> ReportAnswer:
    task = state.task
    step = state.steps.get(fact.step_id) if fact.step_id else None
    accepted = isinstance(decision, Accepted | Merged)
    return ReportAnswer(
        accepted=accepted,
        duplicate=isinstance(decision, Repeated),
        stale=isinstance(decision, Stale),
        task_id=task.task_id,
        step_id=fact.step_id,
        task_version=str(task.version),
        step_version=str(step.version) if step else None,
        lifecycle_status=task.lifecycle,
        business_status=task.business_status,
        step=StepStatus(step.lifecycle, step.business_status) if step else None,
        committed_at=instant(now if accepted else task.updated_at),
        merged=isinstance(decision, Merged),
        reason=decision.reason if isinstance(decision, Stale) else None,
    )
