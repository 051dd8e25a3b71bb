"""Column types that mean the same on every database: identifiers compare byte for byte, times are integers."""

from sqlalchemy import BigInteger, Integer, LargeBinary, SmallInteger, String, Text
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.types import TypeEngine


def _bytewise(length: int) -> TypeEngine[str]:
    # SQLite compares byte for byte unless told otherwise; the others follow the database's language.
    pg = postgresql.VARCHAR(length, collation="C")
    my = mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")
    return String(length).with_variant(pg, "postgresql").with_variant(my, "mysql", "mariadb")


Id = _bytewise(128)
"""An identifier: 1 to 128 characters of `A–Z a–z 0–9 . _ - ~`."""

Key = _bytewise(255)
"""A caller's own key of visible ASCII, such as an idempotency key."""

Word = _bytewise(32)
"""A word of our own vocabulary: a lifecycle, a health, an event type, a reason."""

Millis = BigInteger()
"""An instant in milliseconds since 1970-01-01 UTC, or a duration in milliseconds."""

Count = BigInteger()
"""A version, a position, a sequence number."""

Small = Integer()
"""An attempt, an ordinal, a percentage."""

Flag = SmallInteger()
"""0 or 1."""

Hash = LargeBinary(64).with_variant(mysql.VARBINARY(64), "mysql", "mariadb")
"""A digest."""

Prose = Text().with_variant(mysql.MEDIUMTEXT(collation="utf8mb4_bin"), "mysql", "mariadb")
"""Text in any script, up to the limits of the interface."""

Json = Prose
"""JSON as text, so that numbers and text come back exactly as they went in."""

RowId = BigInteger().with_variant(Integer, "sqlite")
"""A number the database gives to a row that has no key of its own."""
