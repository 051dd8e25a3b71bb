"""The kinds of value a setting can have besides text, numbers and switches."""

import re
from typing import Any, Final

_DURATION: Final = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(ms|s|min|m|h|d)?\s*")
_MS: Final[dict[str, int]] = {"ms": 1, "s": 1_000, "min": 60_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZE: Final = re.compile(r"\s*([0-9]{1,12})\s*(B|KiB|MiB|GiB)?\s*")
_BYTES: Final[dict[str, int]] = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
HIDDEN: Final = "(hidden)"


class Duration(int):
    """A length of time in milliseconds; written as `500ms`, `2s`, `15min`, `72h`, `3d`, or a bare number of seconds."""

    @property
    def seconds(self) -> float:
        """The same in seconds."""
        return self / 1000

    @classmethod
    def parse(cls, said: object) -> "Duration":
        """Reads one. Raises `ValueError` that says how it is written."""
        found = None if isinstance(said, bool) else _DURATION.fullmatch(str(said))
        if found is None:
            raise ValueError('Expected a length of time such as "500ms", "2s", "15min" or "72h"')
        return cls(round(float(found[1]) * _MS[found[2] or "s"]))

    def __str__(self) -> str:
        unit = next(unit for unit in ("h", "min", "s", "ms") if self % _MS[unit] == 0 and (self or unit == "ms"))
        return f"{self // _MS[unit]}{unit}"


class Size(int):
    """A number of bytes; written as `256KiB`, `4MiB`, or a bare number."""

    @classmethod
    def parse(cls, said: object) -> "Size":
        """Reads one. Raises `ValueError` that says how it is written."""
        found = None if isinstance(said, bool) else _SIZE.fullmatch(str(said))
        if found is None:
            raise ValueError('Expected a size such as "256KiB" or "4MiB"')
        return cls(int(found[1]) * _BYTES[found[2] or "B"])

    def __str__(self) -> str:
        unit = next(unit for unit in ("GiB", "MiB", "KiB", "B") if self % _BYTES[unit] == 0 and (self or unit == "B"))
        return f"{self // _BYTES[unit]}{unit}"


class Secret(str):
    """Text that no representation shows; only `reveal` does."""

    __slots__ = ()

    @classmethod
    def parse(cls, said: object) -> "Secret":
        """Reads one. Raises `ValueError` for what is no text."""
        if not isinstance(said, str):
            raise ValueError("Expected text")
        return cls(said)

    def reveal(self) -> str:
        """The text itself."""
        return str.__str__(self)

    def __repr__(self) -> str:
        return repr(HIDDEN if self.reveal() else "")

    def __str__(self) -> str:
        return HIDDEN if self.reveal() else ""

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Address(Secret):
    """A URL whose user part may hold a password; representations show it without."""

    __slots__ = ()

    def __str__(self) -> str:
        shown = re.sub(r"(?<=://)[^/?#]*@", f"{HIDDEN}@", self.reveal())
        return re.sub(r"(?i)((?:password|passwd|pwd|secret|token|sslpassword)=)[^&#]*", rf"\1{HIDDEN}", shown)

    def __repr__(self) -> str:
        return repr(str(self))


def read_value(kind: type[Any], said: object) -> object:
    """A value of one of the kinds above, for the codec. Raises `ValueError` with what was expected."""
    for known in (Duration, Size, Address, Secret):
        if kind is known:
            return known.parse(said)
    raise NotImplementedError(kind)
