"""Claims: one holder at a time, and an expired one can change nothing."""

import asyncio

from milepost.ports.claims import Claim, Claims
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import Site, Store

LONG = 3_600_000
OVER = 0
"""A lease that is over as soon as it was given: nobody has to wait for its end."""


async def taken(claims: Claims, holder: str, lease_ms: int = LONG, work: str = "health") -> Claim:
    """A claim that must succeed."""
    claim = await claims.take(work, holder, lease_ms)
    assert claim is not None
    return claim


async def refused(claims: Claims, claim: Claim) -> bool:
    """Whether all that a holder can do is refused to this one."""
    renewed = await claims.renew(claim, LONG)
    return (renewed, await claims.complete(claim, LONG), await claims.release(claim)) == (None, False, False)


class ClaimSuite(OnSite):
    """One mechanism for all work that one process does at a time."""

    async def test_of_many_who_claim_one_work_at_once_one_holds_it(self, store: Store, site: Site) -> None:
        others = [site.open() for _ in range(3)]
        stores = [store, *others] * 4
        found = await asyncio.gather(
            *(one.claims.take("health", f"h{number}", LONG) for number, one in enumerate(stores))
        )
        assert [claim.token for claim in found if claim is not None] == [1]
        await asyncio.gather(*(other.close() for other in others))

    async def test_works_of_different_names_are_held_apart(self, store: Store) -> None:
        assert (await taken(store.claims, "a", work="health")).token == 1
        assert (await taken(store.claims, "b", work="retention")).token == 1
        assert await store.claims.take("health", "b", LONG) is None

    async def test_a_holder_may_renew_and_nobody_takes_it_meanwhile(self, store: Store) -> None:
        claim = await taken(store.claims, "a", 60_000)
        renewed = await store.claims.renew(claim, LONG)
        assert renewed is not None
        assert (renewed.token, renewed.expires_at > claim.expires_at) == (claim.token, True)
        assert await store.claims.take("health", "b", LONG) is None

    async def test_an_expired_holder_changes_nothing_while_another_holds(self, store: Store) -> None:
        late = await taken(store.claims, "a", OVER)
        owner = await taken(store.claims, "b")
        assert owner.token == late.token + 1
        assert await refused(store.claims, late)
        assert await store.claims.take("health", "c", LONG) is None
        assert await store.claims.renew(owner, LONG) is not None

    async def test_an_expired_holder_changes_nothing_after_the_other_gave_back(self, store: Store) -> None:
        """The row has no holder then, and nothing is not a match for anybody."""
        late = await taken(store.claims, "a", OVER)
        owner = await taken(store.claims, "b")
        assert await store.claims.release(owner)
        assert await refused(store.claims, late)
        assert await refused(store.claims, owner)
        assert (await taken(store.claims, "a")).token == owner.token + 1

    async def test_an_expired_holder_changes_nothing_even_where_nobody_took_over(self, store: Store) -> None:
        assert await refused(store.claims, await taken(store.claims, "a", OVER))

    async def test_the_same_holder_under_an_older_token_is_refused(self, store: Store) -> None:
        late = await taken(store.claims, "a", OVER)
        again = await taken(store.claims, "a")
        assert await refused(store.claims, late)
        assert await store.claims.release(again)

    async def test_another_holder_with_the_right_token_is_refused(self, store: Store) -> None:
        claim = await taken(store.claims, "a")
        assert await refused(store.claims, Claim(claim.work, "b", claim.token, claim.expires_at))

    async def test_completed_work_rests_and_released_work_does_not(self, store: Store) -> None:
        assert await store.claims.complete(await taken(store.claims, "a"), 0)
        assert await store.claims.release(await taken(store.claims, "a"))
        assert await store.claims.complete(await taken(store.claims, "b"), LONG)
        assert await store.claims.take("health", "c", LONG) is None
