import pytest

from milepost.gateway.limits import QuietMetrics, StreamLimits
from milepost.gateway.register import SLOTS, Register
from milepost.gateway.viewer import Interest, Viewer
from milepost.wire.problems import Rejection


def interest(user: str = "u", tenant: str = "t", session: str = "s", expires_at: int = 10_000) -> Interest:
    return Interest(tenant, user, session, expires_at, personal=True)


def viewer(limits: StreamLimits, *, session: str = "s", expires_at: int = 10_000) -> Viewer:
    return Viewer(interest(session=session, expires_at=expires_at), limits, QuietMetrics(), 0)


def test_a_user_and_a_tenant_have_only_so_many_places_and_get_them_back():
    register = Register(StreamLimits(per_user=2, per_tenant=3))
    register.admit(interest("a"))
    register.admit(interest("a"))
    with pytest.raises(Rejection) as refused:
        register.admit(interest("a"))
    assert refused.value.code == "RATE_LIMITED"
    assert refused.value.retry_after
    register.admit(interest("b"))
    with pytest.raises(Rejection):
        register.admit(interest("c"))
    register.admit(interest("a", tenant="other"))
    register.release(interest("a"))
    register.admit(interest("c"))
    assert len(register) == 4


def test_every_viewer_has_its_turn_once_a_round():
    limits = StreamLimits()
    register = Register(limits)
    viewers = {viewer(limits) for _ in range(50)}
    for one in viewers:
        register.add(one)
    turns = [register.turn() for _ in range(SLOTS)]
    assert max(len(turn) for turn in turns) <= 4
    assert {one for turn in turns for one in turn} == viewers
    assert sum(len(turn) for turn in turns) == 50


def test_a_session_ends_at_its_second_and_not_before():
    limits = StreamLimits()
    register = Register(limits)
    early, late = viewer(limits, expires_at=9_500), viewer(limits, expires_at=20_000)
    register.add(early)
    register.add(late)
    assert register.expired(9_999) == []
    assert register.expired(10_000) == [early]
    register.discard(early)
    assert register.expired(19_999) == []
    assert register.expired(30_000) == [late]


def test_viewers_are_found_by_their_session_until_they_leave():
    limits = StreamLimits()
    register = Register(limits)
    mine, other = viewer(limits, session="s1"), viewer(limits, session="s2")
    register.add(mine)
    register.add(other)
    assert register.of_session("s1") == (mine,)
    register.discard(mine)
    assert register.of_session("s1") == ()
    assert register.everybody() == [other]
