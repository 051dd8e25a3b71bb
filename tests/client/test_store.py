import random

import msgspec
import pytest

from milepost.client.store import Store
from milepost.wire.messages import TaskDetail
from tests.client.states import AT, detail, removed, step, summary, task


@pytest.fixture
def store() -> Store:
    known = Store()
    known.enter("e")
    return known


@pytest.mark.accepts("old attempt, sequence, version never cover the new")
def test_a_version_passes_once_and_only_upwards(store: Store):
    effects = [store.apply(summary(9, version)) for version in (2, 1, 2, 5, 4)]
    assert effects == ["CHANGED", "IGNORED", "IGNORED", "CHANGED", "IGNORED"]
    assert store.tasks()[0].version == "5"


def test_versions_are_compared_as_numbers_beyond_what_a_float_holds(store: Store):
    store.apply(summary(1, 9))
    assert store.apply(summary(2, 10)) == "CHANGED"
    store.apply(summary(3, 2**53))
    assert store.apply(summary(4, 2**53 + 1)) == "CHANGED"


@pytest.mark.accepts("separate version gates")
def test_list_and_detail_have_gates_of_their_own(store: Store):
    store.apply(summary(5, 5))
    assert store.apply(detail(4, 4)) == "CHANGED"
    assert store.apply(detail(5, 5)) == "CHANGED"
    assert store.apply(summary(6, 5)) == "IGNORED"


def test_a_removed_task_stays_away_until_a_higher_version(store: Store):
    store.apply(summary(1, 3))
    assert store.apply(removed(4, 4)) == "REMOVED"
    assert store.apply(removed(4, 4)) == "IGNORED"
    assert store.apply(summary(2, 2)) == "IGNORED"
    assert store.take_detail("e", task(version=3), [step()]) == "IGNORED"
    assert store.tasks() == []
    assert store.removed("k")


def test_a_removal_older_than_the_state_is_ignored(store: Store):
    store.apply(summary(9, 9))
    assert store.apply(removed(4, 4)) == "IGNORED"
    assert len(store.tasks()) == 1


@pytest.mark.accepts("messages during start-up not covered by an older snapshot")
def test_an_older_snapshot_never_lowers_what_a_push_brought(store: Store):
    # B38, the reverse: the snapshot was read before the push and arrives after it.
    store.apply(summary(7, 3, lifecycle_status="SUCCEEDED"))
    store.take_list("e", "e:5", [task(version=2)], complete=True)
    assert store.tasks()[0].lifecycle_status == "SUCCEEDED"


def test_a_task_the_older_snapshot_did_not_know_stays(store: Store):
    store.apply(summary(7, 1, "new"))
    assert store.take_list("e", "e:6", [], complete=True) == []
    assert [known.id for known in store.tasks()] == ["new"]


def test_what_a_newer_snapshot_does_not_hold_is_gone(store: Store):
    store.apply(summary(7, 1))
    assert store.take_list("e", "e:8", [], complete=True) == ["k"]
    assert store.tasks() == []


def test_a_list_that_was_cut_says_nothing_about_what_is_older(store: Store):
    store.apply(summary(1, 1, "old", created_at="2025-01-01T00:00:00.000Z"))
    store.apply(summary(1, 1, "gone", created_at="2026-06-01T00:00:00.000Z"))
    assert store.take_list("e", "e:8", [task("k")], complete=False) == ["gone"]
    assert [known.id for known in store.tasks()] == ["k", "old"]


def test_another_epoch_is_foreign_until_a_snapshot_brings_it(store: Store):
    store.apply(summary(70, 70))
    store.apply(removed(71, 9, "buried"))
    store.moved("e:71")
    assert store.apply(summary(2, 2, epoch="f")) == "FOREIGN"
    store.take_list("f", "f:3", [task(version=2), task("buried")], complete=True)
    assert (store.epoch, store.cursor) == ("f", None)
    assert [known.version for known in store.tasks()] == ["2", "1"]


def test_a_message_too_large_for_its_steps_asks_for_the_snapshot(store: Store):
    store.apply(detail(1, 1))
    whole = detail(2, 2)
    assert isinstance(whole, TaskDetail)
    large = msgspec.structs.replace(whole, steps=None, refetch=True)
    assert store.apply(large) == "REFETCH"
    store.take_detail("e", task(version=2), [step(version=2)])
    assert store.apply(large) == "IGNORED"


def test_tasks_come_newest_first_then_by_id_descending(store: Store):
    store.apply(summary(1, 1, "b"))
    store.apply(summary(2, 1, "c"))
    store.apply(summary(3, 1, "a", created_at="2026-02-01T00:00:00.000Z"))
    assert [known.id for known in store.tasks()] == ["a", "c", "b"]
    assert AT < "2026-02-01"


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_any_repeats_ends_in_the_newest_state(seed: int):
    chance = random.Random(seed)
    told = [summary(n, n, f"k{n % 3}") for n in range(1, 40)] + [removed(40, 40, "k1")]
    heard = told + chance.choices(told, k=30)
    chance.shuffle(heard)
    known = Store()
    known.enter("e")
    versions: dict[str, int] = {}
    for message in heard:
        known.apply(message)
        for seen in known.tasks():
            assert int(seen.version) >= versions.get(seen.id, 0)
            versions[seen.id] = int(seen.version)
    assert {seen.id: seen.version for seen in known.tasks()} == {"k0": "39", "k2": "38"}
