"""How a command ends: 0 well, 1 found wanting, 2 used wrongly, 3 a part it depends on is unavailable."""

from typing import Final

FOUND_WANTING: Final = 1
USED_WRONGLY: Final = 2
UNAVAILABLE: Final = 3


class Ending(Exception):
    """Ends a command with one line on standard error and an exit code."""

    code = FOUND_WANTING


class FoundWanting(Ending):
    """What was asked for is not there, or not as it should be."""


class UsedWrongly(Ending):
    """The command cannot be done as it was given."""

    code = USED_WRONGLY


class PartUnavailable(Ending):
    """A database, a service or a package the command depends on cannot be had."""

    code = UNAVAILABLE
