"""Takes secrets out of text that is about to be written down. The last net: nothing should reach it."""

import re
from typing import Final

HIDDEN: Final = "(hidden)"

_OPAQUE: Final = r"\b(mp[a-z]_[a-z0-9]{4,64}_)[A-Za-z0-9_-]{8,}"
_JWT: Final = r"\beyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]+){1,4}"
_KEY: Final = r"\b([A-Za-z0-9._-]{1,64}:)[A-Za-z0-9+/]{42,}={0,2}"
_LOGIN: Final = r"(?<=://)[^\s/@\"'?#]*:[^\s@\"']*(?=@)"
_BEARER: Final = r"(?i:\b(bearer\s+|basic\s+))[A-Za-z0-9._~+/=-]{4,}"
_NAMED: Final = (
    r"(?i:\b((?:access_|id_|refresh_)?token|ticket|secret|password|passwd|pwd|api_?key|code)=)[^&#\s\"'\\,;)]+"
)
_SHAPES: Final = re.compile("|".join((_OPAQUE, _JWT, _LOGIN, _BEARER, _NAMED, _KEY)))
# One literal beginning each, so that looking costs less than writing.
_LOOKS: Final = tuple(re.compile(shape) for shape in (rb"mp[a-z]_[a-z0-9]{4}", rb"eyJ", rb":[A-Za-z0-9+/]{42}"))


def scrub(text: str) -> str:
    """The text without anything shaped like a credential, a token, a signing key or a password in a URL."""
    return _SHAPES.sub(lambda found: (found[found.lastindex] if found.lastindex else "") + HIDDEN, text)


def suspicious(encoded: bytes) -> bool:
    """Whether encoded records hold something shaped like one of our secrets: a quick look for the hot path."""
    return any(look.search(encoded) for look in _LOOKS)
