import random

import pytest

from milepost.gateway.message import Message
from milepost.gateway.queue import Queue

ROOMY = 1_000_000


def message(
    position: int, task: str = "t", *, kind: str = "task.summary", mergeable: bool = True, size: int = 10
) -> Message:
    return Message(kind, b"x" * size, "e", position, task, mergeable=mergeable)


def positions(queue: Queue) -> list[int]:
    return [message.position for message in queue.take()]


def test_a_newer_message_takes_the_place_of_a_mergeable_one_at_the_end():
    queue = Queue()
    assert [queue.put(message(1, "a"), ROOMY), queue.put(message(2, "b"), ROOMY)] == [0, 0]
    assert queue.put(message(3, "a"), ROOMY) == 1
    assert positions(queue) == [2, 3]


@pytest.mark.accepts("STEP_FAILED, terminals and action requests never merged away")
def test_a_message_that_is_never_merged_stays_and_yet_replaces_older_progress():
    queue = Queue()
    queue.put(message(1, mergeable=True), ROOMY)
    assert queue.put(message(2, mergeable=False), ROOMY) == 1
    assert queue.put(message(3, mergeable=False), ROOMY) == 0
    assert queue.put(message(4, mergeable=True), ROOMY) == 0
    assert positions(queue) == [2, 3, 4]


def test_summary_and_detail_of_one_task_do_not_replace_each_other():
    queue = Queue()
    queue.put(message(1, kind="task.summary"), ROOMY)
    queue.put(message(1, kind="task.detail"), ROOMY)
    queue.put(message(2, kind="task.summary"), ROOMY)
    assert [(m.kind, m.position) for m in queue.take()] == [("task.detail", 1), ("task.summary", 2)]


def test_what_does_not_fit_is_refused_and_a_collapse_makes_room_first():
    queue = Queue()
    assert queue.put(message(1, "a", size=60), 100) == 0
    assert queue.put(message(2, "b", size=60), 100) is None
    assert queue.put(message(3, "a", size=90), 100) == 1
    assert positions(queue) == [3]


def test_one_message_alone_always_fits():
    queue = Queue()
    assert queue.put(message(1, size=500), 100) == 0
    assert queue.put(message(2, "other"), 100) is None


def test_taking_empties_the_queue_and_its_size():
    queue = Queue()
    queue.put(message(1), ROOMY)
    queue.put(message(2, "b"), ROOMY)
    assert queue.size == 20
    assert len(queue.take()) == 2
    assert (queue.size, len(queue), queue.take()) == (0, 0, ())


@pytest.mark.parametrize("seed", range(20))
def test_cut_anywhere_what_was_not_sent_has_a_newer_one_of_its_task_behind_the_cut(seed: int):
    rng = random.Random(seed)
    queue, sent, put = Queue(), list[Message](), list[Message]()
    for position in range(1, 120):
        new = message(position, rng.choice("abc"), mergeable=rng.random() < 0.7)
        put.append(new)
        assert queue.put(new, ROOMY) is not None
        if rng.random() < 0.1:
            sent.extend(queue.take())
    sent.extend(queue.take())
    assert [m.position for m in sent] == sorted({m.position for m in sent})
    for cut in range(len(sent)):
        seen, last = set(sent[: cut + 1]), sent[cut].position
        for old in put:
            if old.position <= last and old not in seen:
                later = [m for m in put if m.merge_key == old.merge_key and m.position > old.position]
                assert old.mergeable
                assert later
                assert later[-1].position > last or later[-1] in seen
