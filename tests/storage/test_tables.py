from typing import Any

import pytest
from sqlalchemy import BigInteger, Date, DateTime, Float, Numeric, Time
from sqlalchemy.schema import Table

from milepost.domain.events import StreamEntry
from milepost.ports.access import AuditEntry
from milepost.storage.rows import CODE, CREDENTIAL, EVENT, EVIDENCE, REMEMBERED, RESULT, SESSION, STEP, TASK, Shape
from milepost.storage.tables import audit_log, metadata, stream_log


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_no_table_has_a_time_of_the_databases_own_or_a_rounded_number(table: Table):
    for column in table.columns:
        assert not isinstance(column.type, (DateTime, Date, Time, Float, Numeric)), column
        if column.name.endswith(("_at", "_ms", "_since")):
            assert isinstance(column.type, BigInteger), column


GLOBAL = {"system_broadcast", "service_credential", "user_session", "used_once", "audit_log", "database_epoch"} | {
    "claim",
    "ingest_liveness",
}


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_every_key_begins_with_the_tenant_except_where_the_row_belongs_to_none(table: Table):
    if table.name not in GLOBAL:
        assert next(iter(table.primary_key)).name == "tenant_id"


@pytest.mark.parametrize(
    "shape",
    [TASK, STEP, EVENT, EVIDENCE, REMEMBERED, RESULT, CREDENTIAL, SESSION, CODE],
    ids=lambda shape: shape.table.name,
)
def test_the_columns_of_a_value_are_its_fields_in_their_order(shape: Shape[Any]):
    """A field that is added to a value and not to its table, or in another place, would shift all that follow."""
    assert shape.columns[: shape.width] == shape.fields


def test_an_entry_lies_in_its_table_with_its_position_behind_the_tenant():
    tenant, position, *rest = stream_log.c.keys()
    assert position == "position"
    assert (tenant, *rest) == StreamEntry.__struct_fields__
    assert tuple(audit_log.c.keys()) == ("audit_id", *AuditEntry.__struct_fields__)
