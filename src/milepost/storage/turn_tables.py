"""The tables of claims and of the times in which the service listened; the rules are those of `tables`."""

from sqlalchemy import Column, PrimaryKeyConstraint

from milepost.storage.columns import Count, Id, Key, Millis
from milepost.storage.metadata import metadata, table

__all__ = ["claim", "ingest_liveness", "metadata"]

claim = table(
    "claim",
    Column("work", Id, nullable=False),
    Column("token", Count, nullable=False),
    Column("holder", Key),
    Column("expires_at", Millis),
    Column("available_at", Millis, nullable=False),
    PrimaryKeyConstraint("work"),
)

ingest_liveness = table(
    "ingest_liveness",
    Column("process_id", Id, nullable=False),
    Column("since_at", Millis, nullable=False),
    Column("until_at", Millis, nullable=False),
    PrimaryKeyConstraint("process_id", "since_at"),
)
