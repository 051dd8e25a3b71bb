"""The fixture every part of the suite uses."""

from collections.abc import AsyncIterator

import pytest

from milepost.testing.storage_suite.site import TENANT, Site, Store


class OnSite:
    """The fixtures: `store` has the tenant `acme`."""

    @pytest.fixture
    async def store(self, site: Site) -> AsyncIterator[Store]:
        """A hold on the database for one test."""
        store = site.open()
        await store.access.add_tenant(TENANT, 0)
        yield store
        await store.close()
