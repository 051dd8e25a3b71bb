"""The table of published definitions; the rules are those of `tables`."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint

from milepost.storage.columns import Flag, Id, Json, Key, Millis, Small
from milepost.storage.metadata import table

# The tenant is empty for a definition of the default tenant, the product for one of every product without its own.
task_definition = table(
    "task_definition",
    Column("tenant_id", Id, nullable=False),
    Column("product", Id, nullable=False),
    Column("task_type", Id, nullable=False),
    Column("version", Small, nullable=False),
    Column("definition_id", Id, nullable=False),
    Column("enabled", Flag, nullable=False),
    Column("published_by", Key, nullable=False),
    Column("published_at", Millis, nullable=False),
    Column("document", Json, nullable=False),
    PrimaryKeyConstraint("tenant_id", "product", "task_type", "version"),
)
Index("task_definition_by_id", task_definition.c.definition_id, unique=True)
