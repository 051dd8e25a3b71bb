"""One life of the database."""

import asyncio

from milepost.ports.storage import Wanted, Writes
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Site, Store, known, write
from milepost.wire.numbers import cursor, parse_cursor


class EpochSuite(OnSite):
    """The epoch changes when it must, and only then."""

    async def test_an_epoch_fits_a_cursor(self, store: Store) -> None:
        epoch = await store.epoch()
        assert len(epoch) <= 12
        assert parse_cursor(cursor(epoch, 7)) == (epoch, 7)

    async def test_opening_again_is_the_same_life(self, store: Store, site: Site) -> None:
        await write(store, Writes(entries=[samples.an_entry()]))
        epoch = await store.epoch()
        await store.close()
        again = site.open()
        assert await again.epoch() == epoch
        assert (await known(again, Wanted())).epoch == epoch
        await again.close()

    async def test_a_second_process_joins_the_same_life(self, store: Store, site: Site) -> None:
        await write(store, Writes(entries=[samples.an_entry()]))
        other = site.open()
        assert await other.epoch() == await store.epoch()
        await other.close()

    async def test_a_new_epoch_is_seen_by_everybody_at_the_next_reading(self, store: Store, site: Site) -> None:
        other = site.open()
        try:
            old = await store.epoch()
            new = await store.renew_epoch(old)
            assert new != old
            assert await store.epoch() == new
            assert (await other.stream_log.tops([TENANT])).epoch == new
            assert (await known(other, Wanted())).epoch == new
            assert await other.epoch() == new
        finally:
            await other.close()

    async def test_of_many_who_renew_the_same_epoch_one_does(self, store: Store, site: Site) -> None:
        other = site.open()
        try:
            old = await store.epoch()
            new = await asyncio.gather(*(one.renew_epoch(old) for one in (store, other) * 4))
            assert len(set(new)) == 1
            assert new[0] != old
            assert await store.renew_epoch(old) == new[0]
        finally:
            await other.close()

    async def test_a_renewed_epoch_holds_after_the_next_opening(self, store: Store, site: Site) -> None:
        new = await store.renew_epoch(await store.epoch())
        await store.close()
        again = site.open()
        assert await again.epoch() == new
        await again.close()
