"""One task told as a story: facts are said one after another, and what was decided moves the state on."""

from collections import Counter
from itertools import count
from typing import Any

from msgspec.structs import replace

from milepost.definitions.generic import generic
from milepost.domain.attempts import Opening, new_source, open_step_attempt, open_task_attempt
from milepost.domain.cancelling import request_cancel
from milepost.domain.creation import StepDraft, TaskDraft, create
from milepost.domain.decide import decide
from milepost.domain.events import Event
from milepost.domain.facts import Fact
from milepost.domain.flushing import flush
from milepost.domain.lifecycle import FailurePolicy
from milepost.domain.outcomes import Accepted, Decision, Merged, Refused
from milepost.domain.rules import TaskRules
from milepost.domain.state import Step, Task, TaskState

NOW = 1_800_000_000_000
RULES = generic("T")


def plan(step_id: str, on_failure: FailurePolicy = "FAIL_TASK", weight: float = 1) -> StepDraft:
    return StepDraft(step_id, f"OP.{step_id}", f"{step_id}-worker", weight, on_failure)


class Story:
    """A task of coordinator `boss`; time stands still unless `now` is moved."""

    def __init__(self, *steps: StepDraft | str, rules: TaskRules = RULES) -> None:
        self.rules = rules
        self.now = NOW
        drafts = tuple(plan(step) if isinstance(step, str) else step for step in steps or ("a",))
        made = create(TaskDraft("t1", "k1", "u1", "T", "A task", drafts), "boss", rules, "created", self.now)
        assert isinstance(made, Accepted)
        self.task: Task = made.task
        self.steps: dict[str, Step] = {step.step_id: step for step in made.steps}
        self.events: list[Event] = []
        self.old: list[Step] = []
        self._ids = count(1)
        self._seqs: Counter[str] = Counter()
        self.apply(made)

    @property
    def state(self) -> TaskState:
        return TaskState(self.task, dict(self.steps))

    @property
    def last(self) -> Event:
        return self.events[-1]

    def fact(self, event_type: str, step_id: str = "a", **more: Any) -> Fact:
        """What the step's producer says next; TASK_ facts come from the coordinator, without a sequence."""
        fact = Fact(
            event_id=f"e{next(self._ids)}",
            tenant_id="t1",
            task_id="k1",
            task_type="T",
            task_attempt=self.task.attempt,
            producer_id="boss",
            event_type=event_type,
            occurred_at=self.now,
            received_at=self.now,
            payload_hash=b"",
        )
        if not event_type.startswith("TASK_"):
            step = self.steps[step_id]
            self._seqs[step_id] += 1
            fact = replace(
                fact,
                step_id=step_id,
                producer_id=step.producer_id,
                operation_code=step.operation_code,
                step_attempt=step.attempt,
                source_epoch=step.source_epoch,
                source_seq=self._seqs[step_id],
            )
        return replace(fact, **more)

    def say(self, event_type: str, step_id: str = "a", **more: Any) -> Decision:
        return self.tell(self.fact(event_type, step_id, **more))

    def tell(self, fact: Fact, seq_owner: str | None = None) -> Decision:
        return self.apply(decide(self.state, fact, self.rules, self.now, seq_owner))

    def apply(self, decision: Decision) -> Decision:
        if isinstance(decision, Accepted):
            self.task = decision.task
            for step in decision.steps:
                self._put(step)
            if decision.event is not None:
                self.events.append(decision.event)
        elif isinstance(decision, Merged):
            self._put(decision.step)
        return decision

    def _put(self, step: Step) -> None:
        if step.current:
            self.steps[step.step_id] = step
        else:
            self.old.append(step)

    def open_task(self, number: int, **more: Any) -> Decision:
        self._seqs.clear()
        return self.apply(
            open_task_attempt(self.state, Opening(number, f"open-{number}", **more), self.rules, self.now)
        )

    def open_step(self, number: int, step_id: str = "a", **more: Any) -> Decision:
        self._seqs.pop(step_id, None)
        wish = Opening(number, f"open-{step_id}-{number}", **more)
        return self.apply(open_step_attempt(self.state, step_id, wish, self.rules, self.now))

    def new_source(self, step_id: str = "a") -> Decision:
        self._seqs.pop(step_id, None)
        return self.apply(new_source(self.state, step_id, self.steps[step_id].attempt))

    def cancel(self, by: str = "u1") -> Decision:
        return self.apply(request_cancel(self.state, by, "cancel", self.now))

    def flush(self, step_id: str = "a") -> Decision:
        return self.apply(flush(self.state, step_id, self.rules, self.now))

    def change(self, step_id: str, **more: Any) -> None:
        """Puts a step into a state that only other parts of the service lead to."""
        self.steps[step_id] = replace(self.steps[step_id], **more)


def refused(decision: object) -> str:
    """The code of a refusal."""
    assert isinstance(decision, Refused), decision
    return decision.code


def accepted(decision: object) -> Event:
    """The event of a change."""
    assert isinstance(decision, Accepted), decision
    assert decision.event is not None
    return decision.event
