"""Texts that people will read: cleaned of what breaks pages and databases, and cut where they are too long."""

from typing import Final

MARK: Final = "… [truncated]"
TITLE: Final = 300
TEXT: Final = 2_000
USER_MESSAGE: Final = 500
STAGE: Final = 200
UNIT: Final = 64
CODE: Final = 128


def cut(text: str | None, limit: int = TEXT) -> str | None:
    """At most `limit` characters, cut at a character and marked."""
    if text is None or len(text) <= limit:
        return text
    return text[: limit - len(MARK)] + MARK


def clean(text: str) -> str:
    """The text with NUL and lone surrogates made visible as U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
