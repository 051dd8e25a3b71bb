"""Looks at every part the service depends on, changes nothing, and says what to do about what it finds."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal

import httpx
from msgspec import Struct

from milepost.bootstrap import databases
from milepost.bootstrap.refusals import CannotStart, NotAvailable
from milepost.bootstrap.service import check
from milepost.bootstrap.signing import key_file, open_ring
from milepost.settings.sections import Settings

_ROOM: Final = 256 << 20


class Finding(Struct, frozen=True, rename="camel"):
    """What one check found; `advice` says what to do where it is not ok."""

    check: str
    state: Literal["ok", "wanting", "unavailable"]
    says: str
    advice: str = ""


def examine(settings: Settings) -> list[Finding]:
    """Every finding, in the order in which parts depend on each other."""
    parts: list[tuple[str, Callable[[Settings], Iterator[Finding]]]] = [
        ("settings", _settings),
        ("keys", _keys),
        ("database", _database),
        ("port", _port),
    ]
    return [finding for name, part in parts for finding in _examined(name, part, settings)]


def _examined(name: str, part: Callable[[Settings], Iterator[Finding]], settings: Settings) -> Iterator[Finding]:
    try:
        yield from part(settings)
    except NotAvailable as error:
        yield Finding(name, "unavailable", str(error), "see that it is there and may be used by this user")
    except CannotStart as error:
        yield Finding(name, "wanting", str(error), "see `milepost settings show`")
    except (OSError, sqlite3.Error) as error:
        yield Finding(name, "unavailable", " ".join(str(error).split()), "see that it is there and may be used")


def _settings(settings: Settings) -> Iterator[Finding]:
    check(settings)
    yield Finding("settings", "ok", "they are valid")


def _keys(settings: Settings) -> Iterator[Finding]:
    database = databases.embedded_file(settings)
    if settings.keys.current or database is None:
        yield Finding("keys", "ok", f"tokens are signed with {open_ring(settings).current.kid}")
        return
    file = key_file(database)
    if not file.exists():
        yield Finding("keys", "ok", f"{file} will be made at the first start")
        return
    mode = stat.S_IMODE(file.stat().st_mode)
    if mode & 0o077:
        yield Finding("keys", "wanting", f"others may read {file} (mode {mode:04o})", f"chmod 600 {file}")
    yield Finding("keys", "ok", f"tokens are signed with {open_ring(settings).current.kid} of {file}")


def _database(settings: Settings) -> Iterator[Finding]:
    file = databases.embedded_file(settings)
    if file is None:
        yield Finding("database", "wanting", "this version runs on SQLite only", "set database.url to sqlite:///path")
        return
    yield from _place(file)
    if not file.exists():
        yield Finding("database", "ok", f"{file} will be made at the first start")
        return
    yield from _file(file)
    if databases.is_current(settings):
        yield Finding("schema", "ok", "the tables are current")
        yield from _life(file)
    else:
        yield Finding("schema", "wanting", "the tables are behind this version", "run `milepost migrate`")


def _place(file: Path) -> Iterator[Finding]:
    folder = file.absolute().parent
    if not folder.is_dir():
        yield Finding("disk", "unavailable", f"{folder} is not there", f"mkdir -p {folder}")
        return
    targets = [folder, *(part for part in (file, Path(f"{file}-wal")) if part.exists())]
    for target in targets:
        if not os.access(target, os.W_OK):
            yield Finding("disk", "unavailable", f"{target} cannot be written", "give this user the right to write")
    free = shutil.disk_usage(folder).free
    if free < _ROOM:
        yield Finding("disk", "wanting", f"{free >> 20} MiB are left in {folder}", "make room")
    else:
        yield Finding("disk", "ok", f"{free >> 30} GiB are left in {folder}")


def _file(file: Path) -> Iterator[Finding]:
    from milepost.storage.sqlite.connection import connect

    connection = connect(file, 2.0, writes=False)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    finally:
        connection.close()
    if verdict == "ok":
        yield Finding("database", "ok", f"{file} can be read and is sound")
    else:
        yield Finding("database", "wanting", f"{file} is damaged: {verdict}", "restore a backup")
    if synchronous >= 2 and journal == "wal":
        yield Finding("durability", "ok", "what is acknowledged is on the disk (WAL, synchronous=FULL)")
    else:
        yield Finding(
            "durability",
            "wanting",
            f"journal_mode={journal} synchronous={synchronous}: what is acknowledged may be lost",
            "keep the file on a local disk",
        )


def _life(file: Path) -> Iterator[Finding]:
    from milepost.storage.sqlite.connection import connect

    connection = connect(file, 2.0, writes=False)
    try:
        found = connection.execute("SELECT epoch FROM database_epoch").fetchone()
    finally:
        connection.close()
    witness = Path(f"{file}.epoch")
    if found is None:
        yield Finding("epoch", "ok", "the first start begins it")
    elif witness.exists() and found[0].encode() in witness.read_bytes():
        yield Finding("epoch", "ok", f"{found[0]}, with its witness {witness}")
    else:
        yield Finding(
            "epoch",
            "wanting",
            f"{witness} does not speak of this database: the next start begins a new epoch",
            "nothing, if a backup was restored; else do not remove that file",
        )


def _port(settings: Settings) -> Iterator[Finding]:
    server = settings.server
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(server.host, server.host)  # noqa: S104  compared
    url = f"http://{f'[{host}]' if ':' in host else host}:{server.port}"
    if server.port == 0:
        yield Finding("port", "ok", "a free one will be taken")
        return
    try:
        answer = httpx.get(f"{url}/readyz", timeout=3.0, trust_env=False)
    except httpx.ConnectError:
        yield Finding("port", "ok", f"nothing listens on {url}; it is free")
        return
    except httpx.HTTPError:
        yield Finding("port", "wanting", f"something else listens on {url}", "set server.port to a free port")
        return
    if answer.status_code == 200 and "milepost-epoch" in answer.headers:
        yield Finding("port", "ok", f"a ready Milepost answers on {url}")
    elif "milepost-epoch" in answer.headers:
        yield Finding("port", "unavailable", f"the Milepost on {url} is not ready", "see its log")
    else:
        yield Finding("port", "wanting", f"something else listens on {url}", "set server.port to a free port")
