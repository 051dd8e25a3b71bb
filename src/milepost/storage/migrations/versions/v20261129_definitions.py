"""Published definitions, and which one a task is bound to."""

from alembic import op
from sqlalchemy import Column, PrimaryKeyConstraint

from milepost.storage.columns import Flag, Id, Key, Millis, Prose, Small

revision = "20261129_definitions"
down_revision = "20261129_reconcilers"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "task_definition",
        Column("tenant_id", Id, nullable=False),
        Column("product", Id, nullable=False),
        Column("task_type", Id, nullable=False),
        Column("version", Small, nullable=False),
        Column("definition_id", Id, nullable=False),
        Column("enabled", Flag, nullable=False),
        Column("published_by", Key, nullable=False),
        Column("published_at", Millis, nullable=False),
        Column("document", Prose, nullable=False),
        PrimaryKeyConstraint("tenant_id", "product", "task_type", "version"),
    )
    op.create_index("task_definition_by_id", "task_definition", ["definition_id"], unique=True)
    op.add_column("task", Column("definition_id", Id))
