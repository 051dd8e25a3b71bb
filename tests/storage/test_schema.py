import asyncio
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

from milepost.ports.storage import Writes
from milepost.storage.schema import HEAD, is_current, sql, upgrade
from milepost.storage.tables import metadata
from milepost.testing.sqlite_site import SqliteSite
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.site import TENANT, write


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'milepost.db'}"


def test_migrations_lead_to_the_tables_the_statements_are_written_for(url: str):
    upgrade(url)
    with create_engine(url).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_database_is_behind_until_it_is_migrated_and_migrating_twice_is_once(url: str):
    assert not is_current(url)
    upgrade(url)
    assert is_current(url)
    upgrade(url)
    assert is_current(url)


def test_the_newest_migration_is_the_one_this_program_asks_for(url: str):
    upgrade(url)
    with create_engine(url).connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_heads() == (HEAD,)


def test_a_file_that_is_no_database_of_ours_is_behind(url: str, tmp_path: Path):
    (tmp_path / "milepost.db").touch()
    assert not is_current(url)


def test_asking_whether_a_file_is_current_does_not_make_it(url: str, tmp_path: Path):
    is_current(url)
    assert list(tmp_path.iterdir()) == []


def test_the_sql_can_be_had_without_a_database(url: str, tmp_path: Path):
    text = sql(url)
    assert all(f"CREATE TABLE {name} " in text for name in metadata.tables)
    assert list(tmp_path.iterdir()) == []


async def migrated(url: str) -> int:
    program = "import sys; from milepost.storage.schema import upgrade; upgrade(sys.argv[1])"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program, url)
    return await child.wait()


async def test_migrating_waits_for_a_writer_and_then_finds_nothing_to_do(site: SqliteSite):
    """As when a second process starts, or somebody runs the command, while the first one serves."""
    async with site.open() as store:
        await store.access.add_tenant(TENANT, 0)
        migrating = asyncio.gather(migrated(site.url))
        wrote = 0
        while not migrating.done():
            wrote += 1
            assert await write(store, Writes(entries=[samples.an_entry()])) == {TENANT: wrote}
        assert await migrating == [0]
    assert is_current(site.url)


async def test_of_several_processes_that_make_the_same_new_file_one_does(url: str):
    assert await asyncio.gather(*(migrated(url) for _ in range(2))) == [0, 0]
    assert is_current(url)


def test_of_several_threads_that_make_the_same_new_file_one_does(url: str):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(upgrade, [url] * 4))
    assert is_current(url)


def test_a_migration_that_fails_leaves_nothing(url: str, tmp_path: Path):
    """A table of the last statement is in the way, so the transaction with all the others must go."""
    connection = sqlite3.connect(tmp_path / "milepost.db")
    connection.execute("CREATE TABLE user_session (x)")
    connection.commit()
    with pytest.raises(OperationalError, match="user_session"):
        upgrade(url)
    assert [name for (name,) in connection.execute("SELECT name FROM sqlite_master")] == ["user_session"]
    connection.close()
