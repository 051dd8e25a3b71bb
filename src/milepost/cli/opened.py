"""Runs what a command does with the database open, and says in one line why it could not."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from milepost.cli.endings import Ending, FoundWanting, PartUnavailable, UsedWrongly
from milepost.cli.settings import loaded
from milepost.settings.sections import Settings

if TYPE_CHECKING:
    from milepost.bootstrap.databases import Database
    from milepost.bootstrap.refusals import CannotStart

T = TypeVar("T")


def with_database(settings_file: Path | None, work: "Callable[[Database, Settings], Awaitable[T]]") -> T:
    """What `work` returned. Raises an `Ending` where the database cannot be used."""
    from milepost.bootstrap.databases import open_database
    from milepost.bootstrap.refusals import CannotStart
    from milepost.clock import SystemClock
    from milepost.ports.storage import Unavailable

    settings = loaded(settings_file).settings

    async def run() -> T:
        async with open_database(settings, SystemClock()) as database:
            return await work(database, settings)

    try:
        return asyncio.run(run())
    except CannotStart as error:
        raise ending(error) from None
    except Unavailable as error:
        raise PartUnavailable(f"the database cannot be used now: {error}") from None


def ending(error: "CannotStart") -> Ending:
    """How a command ends that could not start something."""
    from milepost.bootstrap.refusals import Misconfigured, SchemaBehind

    if isinstance(error, Misconfigured):
        return UsedWrongly(str(error))
    return FoundWanting(str(error)) if isinstance(error, SchemaBehind) else PartUnavailable(str(error))


def checked_id(text: str, option: str) -> str:
    """An identifier as it stands. Raises `UsedWrongly`."""
    from milepost.wire.ids import is_id

    if not is_id(text):
        raise UsedWrongly(f"{option}: expected 1 to 128 characters of A-Z a-z 0-9 . _ - ~")
    return text


def escaped_id(foreign: str, option: str) -> str:
    """A foreign identifier, such as a mail address, as one of ours. Raises `UsedWrongly`."""
    from milepost.wire.ids import escaped, is_id
    from milepost.wire.problems import Rejection

    try:
        return foreign if is_id(foreign) else escaped(foreign)
    except Rejection:
        raise UsedWrongly(f"{option}: empty, or longer than 128 characters") from None
