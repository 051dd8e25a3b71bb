"""How tables and their indexes are written down; all of them belong to one `metadata`."""

from typing import Any

from sqlalchemy import ColumnElement, Index, MetaData, Table
from sqlalchemy.schema import SchemaItem

metadata = MetaData()


def table(name: str, *parts: SchemaItem, **options: Any) -> Table:
    """One table."""
    return Table(name, metadata, *parts, **options)


def index(name: str, of: Table, *columns: str, where: ColumnElement[bool] | None = None) -> None:
    """An index over some columns; over some rows only, where the database can."""
    Index(name, *(of.c[column] for column in columns), sqlite_where=where, postgresql_where=where)
