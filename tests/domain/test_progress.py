"""Progress that does not lie."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from milepost.domain.outcomes import Accepted, Merged, Stale
from milepost.domain.progress import advanced
from milepost.domain.values import Data, Progress
from tests.domain.story import RULES, Story, accepted, plan

MERGED, VERSION = Merged, Accepted


def at(current: float, total: float | None = 100) -> Progress:
    return Progress(current, total, "page")


def running(*steps: Any) -> Story:
    """Step `a` has started and has a first versioned progress of 10 of 100."""
    story = Story(*steps)
    story.say("STEP_STARTED")
    accepted(story.say("STEP_PROGRESS", progress=at(10)))
    return story


@pytest.mark.parametrize(
    "waited,current,kind",
    [
        (0, 90, MERGED),
        (999, 90, MERGED),
        (1_000, 14.9, MERGED),
        (1_000, 15, VERSION),
        (1_999, 14.9, MERGED),
        (1_999, 5, MERGED),
        (2_000, 10, VERSION),
        (2_000, 5, VERSION),
    ],
)
def test_progress_earns_a_version_by_distance_and_time(waited: int, current: float, kind: type) -> None:
    story = running()
    before = story.task
    story.now += waited
    assert isinstance(story.say("STEP_PROGRESS", progress=at(current)), kind)
    assert story.task.version == before.version + (kind is VERSION)


def test_the_thresholds_are_the_types_own() -> None:
    rules = replace(RULES, progress=replace(RULES.progress, min_percent=50, min_interval_ms=10, max_interval_ms=100))
    story = Story("a", rules=rules)
    story.say("STEP_STARTED")
    story.say("STEP_PROGRESS", progress=at(10))
    story.now += 10
    assert isinstance(story.say("STEP_PROGRESS", progress=at(59)), Merged)
    assert isinstance(story.say("STEP_PROGRESS", progress=at(60)), Accepted)
    story.now += 100
    assert isinstance(story.say("STEP_PROGRESS"), Accepted)


def test_distance_counts_from_the_last_version_not_from_what_was_merged() -> None:
    story = running()
    for current in (12, 14):
        story.now += 400
        assert isinstance(story.say("STEP_PROGRESS", progress=at(current)), Merged)
    story.now += 400
    accepted(story.say("STEP_PROGRESS", progress=at(15)))


@pytest.mark.parametrize("said", [{"stage": "second"}, {"stage": "second", "progress": at(1)}])
def test_a_new_stage_is_never_merged_and_starts_again(said: dict[str, Any]) -> None:
    story = running()
    event = accepted(story.say("STEP_PROGRESS", **said))
    assert (event.public.stage, story.steps["a"].stage) == ("second", "second")
    assert story.steps["a"].progress == said.get("progress")


def test_the_same_stage_named_again_is_no_new_stage() -> None:
    story = running()
    story.say("STEP_PROGRESS", stage="second", progress=at(40))
    assert isinstance(story.say("STEP_PROGRESS", stage="second", progress=at(90)), Merged)


@pytest.mark.accepts("STEP_FAILED, terminals and action requests never merged away")
def test_ends_and_the_progress_of_a_stale_step_are_never_merged() -> None:
    story = running()
    story.change("a", health="STALE")
    accepted(story.say("STEP_PROGRESS", progress=at(11)))
    assert story.steps["a"].health == "HEALTHY"
    accepted(story.say("STEP_COMPLETED"))


def test_the_first_progress_of_a_step_is_a_version() -> None:
    story = Story()
    story.say("STEP_STARTED")
    accepted(story.say("STEP_PROGRESS", progress=at(0)))


def test_merged_progress_moves_the_rows_life_and_nothing_people_see() -> None:
    story = running()
    before, shown = story.task, story.steps["a"]
    story.now += 300
    story.say("STEP_PROGRESS", progress=at(30), message="page 30")
    step = story.steps["a"]
    assert story.task == before
    assert (step.version, step.progress, step.message, step.updated_at) == (
        shown.version, shown.progress, shown.message, shown.updated_at,
    )  # fmt: skip
    assert (step.source_seq, step.last_seen_at) == (3, story.now)
    assert step.pending is not None
    assert (step.pending.progress, step.pending.message) == (at(30), "page 30")


def test_the_sequence_of_merged_progress_is_used_up() -> None:
    story = running()
    story.say("STEP_PROGRESS", progress=at(30), source_seq=3)
    assert story.say("STEP_PROGRESS", progress=at(31), source_seq=3) == Stale("OLD_SEQUENCE")


def test_what_was_merged_is_taken_in_by_the_next_version() -> None:
    story = running()
    story.say("STEP_PROGRESS", progress=at(30), message="page 30", data=Data("d", 1))
    story.say("STEP_COMPLETED")
    step = story.steps["a"]
    assert (step.progress, step.message, step.data, step.pending) == (at(30), "page 30", Data("d", 1), None)


def test_what_was_merged_is_gone_in_a_new_stage_and_in_a_new_attempt() -> None:
    story = running()
    story.say("STEP_PROGRESS", progress=at(90))
    story.say("STEP_PROGRESS", stage="second", progress=at(1))
    assert (story.steps["a"].progress, story.steps["a"].pending) == (at(1), None)
    story.say("STEP_PROGRESS", progress=at(2))
    story.open_step(2, abandon=True)
    assert (story.steps["a"].progress, story.steps["a"].pending, story.old[0].pending) == (None, None, None)
    story.say("STEP_PROGRESS", progress=at(1))
    story.say("STEP_PROGRESS", progress=at(2))
    story.open_task(2, abandon=True)
    assert (story.steps["a"].pending, story.old[1].pending) == (None, None)


def test_the_end_of_a_task_shows_what_was_merged() -> None:
    story = running()
    story.say("STEP_PROGRESS", progress=at(30), message="page 30")
    before = story.steps["a"]
    story.say("TASK_CANCELLED")
    step = story.steps["a"]
    assert (step.progress, step.message, step.pending, step.version) == (at(30), "page 30", None, before.version + 1)


def test_a_missing_fact_before_a_merged_one_is_marked_when_it_becomes_visible() -> None:
    story = running()
    story.fact("STEP_PROGRESS")
    story.say("STEP_PROGRESS", progress=at(11))
    story.say("STEP_PROGRESS", progress=at(12))
    assert accepted(story.say("STEP_COMPLETED")).gap is True


@pytest.mark.parametrize(
    "seen,told,after",
    [
        (None, at(5, 10), at(5, 10)),
        (None, at(50, 10), at(10, 10)),
        (at(5, 10), at(4, 10), at(5, 10)),
        (at(5, 10), at(4, 20), at(5, 20)),
        (at(5, None), at(4, None), at(5, None)),
        (at(5, None), at(2, 4), at(5, None)),
        (at(50, 100), at(60, 40), at(50, 100)),
        (at(5, 10), None, at(5, 10)),
        (at(5, 10), at(5, None), at(5, None)),
        (at(0, 0), at(3, 0), at(0, 0)),
    ],
)
def test_inside_a_stage_progress_is_clamped_and_never_goes_back(
    seen: Progress | None, told: Progress | None, after: Progress | None
) -> None:
    assert advanced(seen, told, new_stage=False) == after


numbers = st.integers(0, 50) | st.floats(0, 50)
progresses = st.none() | st.builds(Progress, numbers, st.none() | numbers)


@given(st.lists(progresses, max_size=20))
def test_whatever_is_told_progress_never_goes_back_and_never_passes_its_total(said: list[Progress | None]) -> None:
    seen: Progress | None = None
    for told in said:
        after = advanced(seen, told, new_stage=False)
        assert seen is None or (after is not None and after.current >= seen.current)
        assert after is None or after.total is None or after.current <= after.total
        seen = after


def test_a_tasks_percentage_weighs_steps_and_counts_what_a_running_one_has_done() -> None:
    story = Story(plan("a", weight=3), plan("b", weight=1))
    assert (story.task.percent, story.task.steps_done, story.task.steps_total) == (0, 0, 2)
    story.say("STEP_PROGRESS", progress=at(50))
    assert story.task.percent == 37
    story.say("STEP_COMPLETED")
    assert (story.task.percent, story.task.steps_done) == (75, 1)
    story.say("STEP_COMPLETED", "b")
    assert (story.task.percent, story.task.steps_done) == (99, 2)
    story.say("TASK_COMPLETED")
    assert story.task.percent == 100


def test_counted_steps_ignore_weights_and_shares() -> None:
    story = Story(plan("a", weight=9), plan("b"), plan("c"), rules=replace(RULES, mode="STEPS"))
    story.say("STEP_PROGRESS", progress=at(99))
    assert story.task.percent == 0
    story.say("STEP_COMPLETED")
    assert story.task.percent == 33


def test_stages_have_no_percentage() -> None:
    story = Story("a", rules=replace(RULES, mode="STAGES"))
    story.say("STEP_PROGRESS", stage="reading", progress=at(50))
    assert (story.task.percent, story.task.stage) == (None, "reading")
    story.say("TASK_COMPLETED")
    assert story.task.percent is None


def test_a_task_without_steps_has_no_percentage_before_its_success() -> None:
    story = Story()
    story.steps.clear()
    story.say("TASK_STARTED")
    assert story.task.percent is None or story.task.percent == 0
    story.say("TASK_COMPLETED")
    assert story.task.percent == 100


def test_steps_that_only_warn_count_as_done_and_those_that_fail_do_not() -> None:
    story = Story(plan("a", "CONTINUE_WITH_WARNING"), "b", "c", "d")
    story.say("STEP_FAILED", "a")
    story.say("STEP_FAILED", "b")
    story.say("STEP_CANCELLED", "c")
    assert (story.task.steps_done, story.task.percent) == (2, 50)


def test_the_percentage_falls_only_when_an_attempt_opens() -> None:
    story = Story("a", "b")
    story.say("STEP_PROGRESS", progress=at(80))
    assert story.task.percent == 40
    story.say("STEP_PROGRESS", stage="second", progress=at(1))
    assert story.task.percent == 40
    story.say("STEP_FAILED")
    story.open_step(2)
    assert story.task.percent == 0


def test_a_failed_or_cancelled_task_keeps_its_percentage() -> None:
    for event_type in ("TASK_FAILED", "TASK_CANCELLED"):
        story = Story("a", "b")
        story.say("STEP_COMPLETED")
        story.say(event_type)
        assert story.task.percent == 50
