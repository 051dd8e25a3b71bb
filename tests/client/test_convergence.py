"""The live view, driven by hand: every effect it asks for is answered by the test."""

from typing import Any

import msgspec
import pytest

from milepost.client.convergence import Change, Convergence, Tempo
from milepost.client.effects import Answer, Close, Ended, Get, Next, Open, Pause
from milepost.client.errors import Forbidden, NotFound, SignedOut
from milepost.client.reads import Reads
from milepost.client.sse import ServerEvent
from milepost.client.store import Store
from milepost.domain.notices import Notice
from milepost.ports.http import Reply, Unreachable
from milepost.wire.answers import TaskList, TaskSnapshot
from milepost.wire.messages import BroadcastSystem, Hello, Message, NoticeRead, Reset, TaskDetail, TaskSummary
from milepost.wire.views import TaskView
from tests.client.states import AT, detail, removed, step, summary, task


def event(message: Message, cursor: str = "") -> ServerEvent:
    kind = str(msgspec.to_builtins(message)["kind"])
    return ServerEvent(kind, msgspec.json.encode(message).decode(), cursor)


def hello(cursor: str = "e:5", *, resumed: bool = False) -> ServerEvent:
    return event(Hello(1, cursor.partition(":")[0], resumed, cursor), "")


def page(cursor: str, *items: TaskView, more: str | None = None) -> Reply:
    return Reply(200, msgspec.json.encode(TaskList(items, more, AT, cursor.partition(":")[0], cursor)))


def snapshot(cursor: str, version: int, **changed: Any) -> Reply:
    shown = task(version=version, **changed)
    body = TaskSnapshot(shown, (step(version=version),), cursor.partition(":")[0], cursor)
    return Reply(200, msgspec.json.encode(body))


def problem(status: int, code: str) -> Reply:
    return Reply(status, msgspec.json.encode({"code": code, "detail": "why"}), {"retry-after": "7"})


class Hand:
    """Runs a live view against scripted answers, in the order in which they are asked for."""

    def __init__(self, task_id: str | None = None, **tempo: Any) -> None:
        self.now = 1000.0
        self.store = Store()
        self.core = Convergence(Reads("secret", 0.0), self.store, task_id, Tempo(**tempo), lambda: self.now)
        self.steps = self.core.run()
        self.changes: list[Change] = []
        self.asked: list[str] = []
        self.pauses: list[float] = []
        self.next_effect = self._run(None)

    def _run(self, answer: Answer) -> Get | Open | Next:
        effect = self.steps.send(answer)
        while isinstance(effect, Change | Close | Pause):
            if isinstance(effect, Change):
                self.changes.append(effect)
            elif isinstance(effect, Pause):
                self.pauses.append(effect.seconds)
                self.now += effect.seconds
            effect = self.steps.send(None)
        return effect

    def give(self, *answers: Reply | Unreachable | ServerEvent | Ended) -> "Hand":
        for answer in answers:
            wanted = self.next_effect
            fits = Next if isinstance(answer, ServerEvent | Ended) else (Get, Open)
            assert isinstance(wanted, fits), f"asked for {wanted}, given {answer}"
            if not isinstance(wanted, Next):
                self.asked.append(wanted.request.path)
            self.next_effect = self._run(answer)
        return self

    def kinds(self) -> list[str]:
        return [change.kind for change in self.changes]

    def versions(self) -> list[str]:
        return [known.version for known in self.store.tasks()]


OPEN = Reply(200)


def test_it_subscribes_first_and_then_takes_the_snapshot():
    hand = Hand().give(OPEN, hello(), page("e:6", task(version=3)))
    assert hand.asked == ["/api/stream", "/api/tasks?limit=100"]
    assert hand.kinds() == ["SNAPSHOT", "STATE"]
    assert (hand.core.state, hand.versions()) == ("LIVE", ["3"])


@pytest.mark.accepts("messages during start-up not covered by an older snapshot")
def test_what_waited_in_the_stream_while_the_snapshot_was_read_is_merged_by_version():
    hand = Hand().give(OPEN, hello("e:5"), page("e:7", task(version=7)))
    hand.give(event(summary(6, 6), "e:6"), event(summary(7, 7), "e:7"), event(summary(8, 8), "e:8"))
    assert hand.versions() == ["8"]
    assert hand.kinds() == ["SNAPSHOT", "STATE", "TASK"]


def test_a_snapshot_older_than_an_applied_push_lowers_nothing():
    # B38, the reverse: the list is read again (an access changed) and its answer is older than what was pushed.
    hand = Hand().give(OPEN, hello("e:5"), page("e:5"))
    hand.give(event(summary(9, 4, lifecycle_status="SUCCEEDED"), "e:9"))
    hand.give(ServerEvent("access.granted", "{}", "e:10"), page("e:6", task(version=2)))
    assert hand.store.tasks()[0].lifecycle_status == "SUCCEEDED"


def test_a_cut_stream_is_resumed_at_the_cursor_without_a_snapshot():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task())).give(event(summary(6, 2), "e:6"), Ended("cut"))
    reopened = hand.next_effect
    assert isinstance(reopened, Open)
    assert reopened.request.headers["last-event-id"] == "e:6"
    assert hand.core.state == "RECOVERING"
    hand.give(OPEN, hello("e:6", resumed=True), event(summary(7, 3), "e:7"))
    assert (hand.core.state, hand.versions()) == ("LIVE", ["3"])
    assert hand.asked.count("/api/tasks?limit=100") == 1


def test_a_heartbeat_moves_the_cursor():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5")).give(ServerEvent("message", "", "e:90"), Ended("cut"))
    assert isinstance(hand.next_effect, Open)
    assert hand.next_effect.request.headers["last-event-id"] == "e:90"


@pytest.mark.accepts("short history → snapshot")
def test_a_reset_owes_a_snapshot_and_tasks_that_went_meanwhile_go():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task("a"), task("b"))).give(Ended("cut"))
    hand.give(
        OPEN, hello("e:99", resumed=True), event(Reset(1, "e", "e:99", "BEHIND"), "e:99"), page("e:99", task("b"))
    )
    assert [known.id for known in hand.store.tasks()] == ["b"]
    assert [change.task_id for change in hand.changes if change.kind == "REMOVED"] == ["a"]


def test_a_reset_that_the_snapshot_already_covers_costs_no_second_one():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5")).give(Ended("cut"))
    hand.give(OPEN, hello("e:50"), page("e:60", task())).give(event(Reset(1, "e", "e:50", "FLOOR"), "e:50"))
    assert isinstance(hand.next_effect, Next)


@pytest.mark.parametrize("how", ["hello", "reset", "message"])
def test_another_epoch_empties_the_store_and_only_a_snapshot_counts(how: str):
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task(version=90), task("old"))).give(Ended("restored"))
    fresh = page("f:3", task(version=2))
    if how == "hello":
        hand.give(OPEN, hello("f:3"), fresh)
    else:
        hand.give(OPEN, hello("e:5", resumed=True))
        told = Reset(1, "f", "f:3", "EPOCH") if how == "reset" else summary(3, 3, epoch="f")
        hand.give(event(told, "f:3"), fresh)
    assert (hand.store.epoch, hand.versions()) == ("f", ["2"])


def test_a_stream_that_ends_at_once_is_not_reopened_in_a_tight_loop():
    # B43
    hand = Hand(poll_after=99).give(OPEN, hello("e:5"), page("e:5")).give(Ended("closed"))
    for _ in range(6):
        hand.give(OPEN, hello("e:5", resumed=True), Ended("closed"))
    assert hand.pauses == sorted(hand.pauses) or hand.pauses[-1] > 4
    assert sum(hand.pauses) > 15
    hand.give(OPEN, hello("e:5", resumed=True), event(summary(6, 1), "e:6"), Ended("closed"))
    assert hand.pauses[-1] <= 1.0


def test_the_servers_own_pause_is_kept():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5")).give(Ended("draining", 4000))
    assert hand.pauses == [4.0]


def test_a_stream_that_keeps_failing_is_helped_out_by_polling():
    hand = Hand(poll_after=2).give(OPEN, hello("e:5"), page("e:5", task())).give(Ended("cut"))
    hand.give(problem(503, "UNAVAILABLE"), page("e:8", task(version=2)))
    assert hand.versions() == ["2"]
    assert hand.pauses[-1] >= 7.0
    assert hand.core.state == "RECOVERING"


def test_nothing_is_cleared_while_nobody_answers_and_the_state_says_so():
    hand = Hand(poll_after=2, poll_every=20.0).give(OPEN, hello("e:5"), page("e:5", task())).give(Ended("cut"))
    for _ in range(4):
        hand.give(Unreachable("refused"))
        if isinstance(hand.next_effect, Get):
            hand.give(Unreachable("refused"))
    assert hand.core.state == "STALE"
    assert hand.versions() == ["1"]


def test_a_snapshot_that_is_not_answered_is_a_lost_connection_and_still_owed():
    hand = Hand().give(OPEN, hello("e:5"), Unreachable("cut"))
    assert isinstance(hand.next_effect, Open)
    assert "last-event-id" not in hand.next_effect.request.headers
    hand.give(OPEN, hello("e:7"), page("e:7", task()))
    assert hand.versions() == ["1"]


@pytest.mark.parametrize(
    "status, code, error",
    [(401, "UNAUTHENTICATED", SignedOut), (403, "FORBIDDEN", Forbidden), (404, "NOT_FOUND", NotFound)],
)
def test_a_session_that_is_over_ends_the_view_with_a_clear_error(status: int, code: str, error: type[Exception]):
    with pytest.raises(error, match=code):
        Hand("k").give(problem(status, code))


def test_a_proxys_page_does_not_end_the_view():
    hand = Hand().give(Reply(403, b"<html>sorry</html>"))
    assert isinstance(hand.next_effect, Open)


def test_the_detail_of_one_task_is_followed_with_its_steps():
    hand = Hand("k").give(OPEN, hello("e:5"), snapshot("e:5", 5)).give(event(detail(6, 6), "e:6"))
    assert hand.asked == ["/api/tasks/k/stream", "/api/tasks/k"]
    assert hand.changes[-1].detail is not None
    assert hand.changes[-1].detail.task.version == "6"


def test_a_detail_too_large_for_a_message_is_read():
    hand = Hand("k").give(OPEN, hello("e:5"), snapshot("e:5", 5))
    whole = detail(6, 6)
    assert isinstance(whole, TaskDetail)
    large = msgspec.structs.replace(whole, steps=None, refetch=True)
    hand.give(event(large, "e:6"), snapshot("e:6", 6))
    assert hand.changes[-1].kind == "SNAPSHOT"
    assert hand.store.detail("k") is not None


def test_a_removed_task_is_told_once():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task()))
    hand.give(event(removed(6, 6), "e:6"), event(removed(6, 6), "e:6"))
    assert hand.kinds().count("REMOVED") == 1


@pytest.mark.parametrize(
    "odd",
    [
        ServerEvent("broadcast.tenant", '{"kind":"broadcast.tenant"}', "e:6"),
        ServerEvent("task.summary", '{"kind":"task.summary"}', "e:6"),
        ServerEvent("task.summary", "{", "e:6"),
        ServerEvent("hello", "[]", ""),
        ServerEvent("message", "{}", ""),
    ],
)
def test_what_is_not_understood_is_passed_over(odd: ServerEvent):
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task())).give(odd, event(summary(7, 2), "e:7"))
    assert hand.versions() == ["2"]


def test_a_long_list_is_read_page_by_page_and_keeps_the_first_pages_cursor():
    older = task("a", created_at="2025-01-01T00:00:00.000Z")
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task("b"), more="next one"), page("e:9", older))
    assert hand.asked[-1] == "/api/tasks?limit=100&cursor=next+one"
    assert [known.id for known in hand.store.tasks()] == ["b", "a"]
    assert hand.store.cursor == "e:5"


@pytest.mark.accepts("outbox catches up after a pause without moving a client back")
def test_no_version_ever_falls():
    hand = Hand().give(OPEN, hello("e:0"), page("e:0"))
    last = 0
    for position in [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]:
        hand.give(event(summary(position, position), f"e:{position}"))
        assert int(hand.versions()[0]) >= last
        last = int(hand.versions()[0])


def alert(position: int, version: int, *, replayed: bool = False) -> ServerEvent:
    told = summary(position, version)
    assert isinstance(told, TaskSummary)
    notice = Notice(
        f"e:k:{version}:step.failed", "step.failed", "ERROR", "a.pdf", "It broke.", "OP", "X", False, False, ()
    )
    return event(msgspec.structs.replace(told, notice=notice, replayed=replayed), f"e:{position}")


def test_a_notice_is_shown_once_whatever_the_version_says_and_never_when_it_was_replayed():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task(version=3)))
    hand.give(alert(6, 2), alert(6, 2), alert(7, 4), alert(8, 5, replayed=True), alert(8, 5))
    told = [change.notice.id for change in hand.changes if change.kind == "NOTICE" and change.notice]
    assert told == ["e:k:2:step.failed", "e:k:4:step.failed"]
    assert hand.versions() == ["5"]


def test_what_is_about_no_task_is_told_and_changes_none():
    hand = Hand().give(OPEN, hello("e:5"), page("e:5", task(version=3)))
    hand.give(
        event(BroadcastSystem(1, "noon", "INFO", "t", "", AT)), event(BroadcastSystem(1, "noon", "INFO", "t", "", AT))
    )
    hand.give(event(NoticeRead(1, "e", "6", AT, None, "e:5"), "e:6"))
    assert hand.kinds()[2:] == ["BROADCAST", "READ"]
    assert (hand.versions(), hand.store.cursor) == (["3"], "e:6")
