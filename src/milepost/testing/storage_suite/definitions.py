"""Published definitions: immutable, found by the line they belong to, read by id inside and outside of a commit."""

import asyncio

from msgspec.structs import replace

from milepost.ports.definitions import Published
from milepost.ports.storage import Wanted
from milepost.testing.storage_suite.fixture import OnSite
from milepost.testing.storage_suite.site import TENANT, Store, known

TEXT = '{"taskType":"T","version":1,"title":"Ünïcode 🚀"}'.encode()


def published(version: int = 1, tenant_id: str = TENANT, product: str = "", task_type: str = "T") -> Published:
    """The heading of a version; its id names all that it hangs on."""
    definition_id = f"d-{tenant_id}-{product}-{task_type}-{version}"
    return Published(tenant_id, product, task_type, version, definition_id, True, "somebody", 5)


class DefinitionSuite(OnSite):
    """Definitions."""

    async def test_a_definition_comes_back_as_it_went_in(self, store: Store) -> None:
        heading = replace(published(), enabled=False)
        assert await store.definitions.publish(heading, TEXT, 0)
        assert await store.definitions.versions(TENANT, "", "T") == (heading,)
        assert await store.definitions.documents([heading.definition_id, "unknown"]) == {heading.definition_id: TEXT}

    async def test_a_version_follows_only_the_newest_that_was_seen(self, store: Store) -> None:
        assert await store.definitions.publish(published(2), TEXT, 0)
        assert not await store.definitions.publish(published(3), TEXT, 0)
        assert not await store.definitions.publish(published(3), TEXT, 1)
        assert await store.definitions.publish(published(3), TEXT, 2)
        assert [one.version for one in await store.definitions.versions(TENANT, "", "T")] == [2, 3]

    async def test_of_many_who_publish_after_the_same_version_one_does(self, store: Store) -> None:
        candidates = [replace(published(1), definition_id=f"d{index}") for index in range(8)]
        made = await asyncio.gather(*(store.definitions.publish(one, TEXT, 0) for one in candidates))
        assert sorted(made) == [False] * 7 + [True]
        assert len(await store.definitions.versions(TENANT, "", "T")) == 1

    async def test_lines_come_the_most_particular_first_and_those_of_others_never(self, store: Store) -> None:
        lines = [("", ""), ("", "shop"), (TENANT, ""), (TENANT, "shop"), (TENANT, "other"), ("beta", "shop")]
        for tenant_id, product in lines:
            for after, version in ((0, 1), (1, 10)):
                assert await store.definitions.publish(published(version, tenant_id, product), TEXT, after)
        await store.definitions.publish(published(1, TENANT, "shop", "t"), TEXT, 0)
        found = await store.definitions.versions(TENANT, "shop", "T")
        assert [(one.tenant_id, one.product, one.version) for one in found] == [
            (tenant_id, product, version)
            for tenant_id, product in ((TENANT, "shop"), (TENANT, ""), ("", "shop"), ("", ""))
            for version in (1, 10)
        ]
        assert {one.tenant_id for one in await store.definitions.listed(TENANT)} == {TENANT, ""}
        assert {one.tenant_id for one in await store.definitions.listed("")} == {""}

    async def test_documents_are_read_in_phase_two(self, store: Store) -> None:
        for version in range(1, 71):
            assert await store.definitions.publish(published(version), b'{"n":%d}' % version, version - 1)
        ids = [published(version).definition_id for version in range(1, 71)]
        expected = {name: b'{"n":%d}' % (index + 1) for index, name in enumerate(ids)}
        assert (await known(store, Wanted(definitions=[*ids, "unknown", ids[0]]))).definitions == expected
        assert await store.definitions.documents(ids) == expected
        assert (await known(store, Wanted())).definitions == {}
