"""Tells one life of the database from another.

Positions and versions compare only inside one epoch. A file that was restored from a copy counts again from an older
place, and nothing inside it can say so; what can is a witness outside: `<file>.epoch`, with the epoch and the sum of
all stream tops, rewritten within a second after a commit. Another epoch or a lower sum in the database is another
life. No witness where the database has one is another life as well: a copy rarely takes the witness with it, and a
needless new epoch costs each viewer a snapshot, while a missed one leaves pages wrong for ever. A sum that is higher
than the witness's is the same life: the process ended between a commit and the rewriting.

All of it runs inside a write transaction, so that two processes on one file agree. The witness is written before the
commit: if that fails, the next opening finds another epoch and starts one more, which is harmless.
"""

import os
import secrets
import sqlite3
import string
from pathlib import Path

import msgspec

from milepost.storage.sqlite import hot

_LETTERS = string.ascii_letters + string.digits


class Witness(msgspec.Struct, frozen=True):
    """What the file beside the database says."""

    epoch: str
    tops: int


def new_epoch() -> str:
    """A name no other life has: 10 letters and digits."""
    return "".join(secrets.choice(_LETTERS) for _ in range(10))


def witness_path(database: Path) -> Path:
    """Where the witness of a database lies."""
    return database.with_name(database.name + ".epoch")


def settle(connection: sqlite3.Connection, path: Path, now: int) -> str:
    """Inside a write transaction: the epoch that holds, a new one if this is another life."""
    found = connection.execute(hot.EPOCH).fetchone()
    known = found[0] if found else None
    told = _read(path)
    (tops,) = connection.execute(hot.SUM).fetchone()
    if known is None or told is None or told.epoch != known or tops < told.tops:
        return renew(connection, path, now)
    return known


def renew(connection: sqlite3.Connection, path: Path, now: int) -> str:
    """Inside a write transaction: starts a new epoch, whatever was before."""
    epoch = new_epoch()
    connection.execute("DELETE FROM database_epoch")
    connection.execute(
        "INSERT INTO database_epoch (only, epoch, identity, since_at) VALUES (1, ?, ?, ?)", (epoch, epoch, now)
    )
    record(connection, path)
    return epoch


def record(connection: sqlite3.Connection, path: Path) -> None:
    """Inside a write transaction: rewrites the witness, whole or not at all."""
    (epoch,) = connection.execute(hot.EPOCH).fetchone()
    (tops,) = connection.execute(hot.SUM).fetchone()
    draft = path.with_name(path.name + ".new")
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(Witness(epoch, tops)))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync(path.parent)


def _read(path: Path) -> Witness | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Witness)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
