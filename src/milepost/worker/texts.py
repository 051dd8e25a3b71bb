"""Makes any text fit to be sent: an error's words may hold anything, and must never cost the end they belong to."""

import re

LIMIT = 2_000
MARK = "… [truncated]"

_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str, limit: int = LIMIT) -> str:
    """The text with NUL and lone surrogates as U+FFFD, cut to `limit` characters with a mark."""
    if len(text) > limit:
        text = text[: limit - len(MARK)] + MARK
    return _UNSENDABLE.sub("\ufffd", text)


def clean_or_none(text: str | None, limit: int = LIMIT) -> str | None:
    """The same for a text that may be absent."""
    return None if text is None else clean(text, limit)
