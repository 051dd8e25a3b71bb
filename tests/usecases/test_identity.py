"""Who a secret belongs to, and for how long that is remembered."""

import pytest

from milepost.ports.access import Access, Credential
from milepost.tokens import secrets
from milepost.usecases.identity import Identities
from milepost.usecases.tickets import TICKET_MS, make_ticket
from milepost.wire.problems import Rejection
from tests.parts.stand import Stand


class Asked:
    """Counts how often the database is asked for a credential or session."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.times = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._access, name)

    async def credential(self, credential_id: str) -> Credential | None:
        self.times += 1
        return await self._access.credential(credential_id)


def identities(service: Stand) -> Identities:
    return Identities(service.storage.access, service.clock)


async def refused(asked: object) -> bool:
    with pytest.raises(Rejection) as raised:
        await asked  # type: ignore[misc]
    return raised.value.code == "UNAUTHENTICATED"


async def test_a_credential_is_known_by_its_whole_secret(service: Stand) -> None:
    secret = await service.credential("worker")
    known = identities(service)
    assert (await known.service(secret)).producer_id == "worker"
    other = secrets.make("mpc")
    forged = f"{secret.rpartition('_')[0]}_{other.text.rpartition('_')[2]}"
    for wrong in (None, "", "nonsense", other.text, secret[:-1], secret + "x", forged):
        assert await refused(known.service(wrong))


async def test_a_session_is_no_credential_and_a_credential_no_session(service: Stand) -> None:
    known = identities(service)
    assert await refused(known.service(await service.session("u1")))
    assert await refused(known.viewer(await service.credential("worker")))


async def test_what_was_found_is_remembered_for_two_seconds(service: Stand) -> None:
    asked = Asked(service.storage.access)
    known = Identities(asked, service.clock)  # type: ignore[arg-type]
    secret = await service.credential("worker")
    for passed, times in ((0, 1), (1_999, 1), (1, 2), (5_000, 3)):
        service.clock.pass_ms(passed)
        await known.service(secret)
        assert asked.times == times


async def test_what_was_not_found_is_asked_again(service: Stand) -> None:
    known = identities(service)
    secret = secrets.make("mpc")
    assert await refused(known.service(secret.text))
    await service.storage.access.add_credential(
        Credential(secret.id, secret.hash, "late", "t1", frozenset({"report"}), "member", 0)
    )
    assert (await known.service(secret.text)).producer_id == "late"


async def test_a_revoked_credential_is_refused_within_two_seconds(service: Stand) -> None:
    known = identities(service)
    secret = await service.credential("worker")
    found = await known.service(secret)
    await service.storage.access.revoke_credential(found.credential_id, service.clock.now())
    service.clock.pass_ms(2_000)
    assert await refused(known.service(secret))


async def test_a_session_ends_at_its_time_and_at_its_revocation(service: Stand) -> None:
    known = identities(service)
    token = await service.session("u1", "p1", roles=("admin",))
    viewer = await known.viewer(token)
    assert (viewer.user_id, viewer.project_ids, viewer.scope.everything) == ("u1", frozenset({"p1"}), True)
    service.clock.pass_ms(viewer.expires_at - service.clock.now() - 1)
    await known.viewer(token)
    service.clock.pass_ms(1)
    assert await refused(known.viewer(token))


async def test_a_signed_out_session_is_refused_at_once_where_it_was_forgotten(service: Stand) -> None:
    known = identities(service)
    token = await service.session("u1")
    viewer = await known.viewer(token)
    await service.storage.access.revoke_session(viewer.session_id, service.clock.now())
    known.forget(viewer.session_id)
    assert await refused(known.viewer(token))


async def test_a_ticket_is_used_once_and_holds_for_thirty_seconds(service: Stand) -> None:
    access, clock, identities = service.storage.access, service.clock, service.services.identities
    who = await identities.viewer(await service.session("u1"))
    first, late = [await make_ticket(access, clock, who.session_id) for _ in range(2)]
    assert (await identities.by_ticket(first.text)).user_id == "u1"
    clock.pass_ms(TICKET_MS)
    for text in (first.text, late.text):
        with pytest.raises(Rejection, match="UNAUTHENTICATED"):
            await identities.by_ticket(text)


async def test_a_person_read_again_is_gone_where_the_session_has_ended(service: Stand) -> None:
    identities = service.services.identities
    who = await identities.viewer(await service.session("u1"))
    assert await identities.again(who) == who
    await service.storage.access.revoke_session(who.session_id, service.clock.now())
    identities.forget(who.session_id)
    with pytest.raises(Rejection, match="UNAUTHENTICATED"):
        await identities.again(who)
