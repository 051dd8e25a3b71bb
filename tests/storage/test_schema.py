from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import BigInteger, Date, DateTime, Float, Numeric, Time, create_engine
from sqlalchemy.schema import Table

from milepost.storage.schema import HEAD, is_current, sql, upgrade
from milepost.storage.tables import metadata


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


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_no_table_has_a_time_of_the_databases_own_or_a_rounded_number(table: Table):
    for column in table.columns:
        assert not isinstance(column.type, (DateTime, Date, Time, Float, Numeric)), column
        if column.name.endswith(("_at", "_ms", "_since")):
            assert isinstance(column.type, BigInteger), column


GLOBAL = {"service_credential", "user_session", "used_once", "audit_log", "database_epoch"}


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_every_key_begins_with_the_tenant_except_where_the_row_belongs_to_none(table: Table):
    if table.name not in GLOBAL:
        assert next(iter(table.primary_key)).name == "tenant_id"
