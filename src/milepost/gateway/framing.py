"""Server-sent events as bytes.

A line of a frame ends at CR, LF or CRLF and nowhere else, and JSON escapes both; so a payload stays on its one line
whatever characters it holds (U+2028, U+0085 and NUL included), and no payload ever reaches `event:` or `id:`.
"""

HEADERS: list[tuple[bytes, bytes]] = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
"""What keeps caches, compressors and proxies from holding a stream back."""

COMMENT = b":\n\n"
"""Bytes for the proxies on the way; no client sees an event."""


def event(kind: str, body: bytes, place: str | None) -> bytes:
    """One event: `kind` is a word of ours, `body` JSON, `place` a cursor or None for what has no position."""
    place_line = f"id: {place}\n" if place else ""
    return b"".join((f"event: {kind}\n{place_line}data: ".encode(), body, b"\n\n"))


def moved(place: str) -> bytes:
    """Moves the client's last event id without an event."""
    return f":\nid: {place}\n\n".encode()


def retry(milliseconds: int) -> bytes:
    """How long the client waits before it comes back."""
    return f"retry: {milliseconds}\n\n".encode()
