"""The join line: one line for each committed fact, by which the traces of everybody involved can be joined."""

import sys
from collections.abc import Sequence
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from milepost.telemetry.logs import visible
from milepost.telemetry.redaction import scrub, suspicious

_encoder: Final = msgspec.json.Encoder()


class JoinLine(Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="logger", tag="milepost.commit"):
    """Identifiers of one committed fact, never its payload. `time` is RFC 3339, `message` the event type."""

    time: str
    level: str
    message: str
    tenant_id: str
    task_id: str
    event_id: str
    task_type: str | None = None
    step_id: str | None = None
    operation_code: str | None = None
    producer_id: str | None = None
    data_schema: str | None = None
    attempt: int | None = None
    source_epoch: int | None = None
    source_seq: int | None = None
    task_version: int | None = None
    lifecycle_status: str | None = None
    error_code: str | None = None
    trace_id: str | None = None


class JoinLog:
    """Writes the lines of one commit in one go. Trouble in writing is dropped: logs never stop work."""

    def __init__(self, out: BinaryIO | None = None, *, plain: bool = False) -> None:
        self._out = out or sys.stderr.buffer
        self._plain = plain

    def write(self, lines: Sequence[JoinLine]) -> None:
        """One line each, in order."""
        if not lines:
            return
        if self._plain:
            encoded = "".join(_sentence(line) for line in lines).encode()
        else:
            encoded = _encoder.encode_lines(lines)
            if not encoded.isascii():
                encoded = b"".join(_escaped(line) for line in lines)
        if suspicious(encoded):
            encoded = scrub(encoded.decode()).encode()
        try:
            self._out.write(encoded)
            self._out.flush()
        except (OSError, ValueError):
            return


def _escaped(line: JoinLine) -> bytes:
    """The line in ASCII: some characters beyond it end a line for some readers."""
    text = _encoder.encode(line).decode()
    return "".join(c if c.isascii() else _unit(c) for c in text).encode() + b"\n"


def _unit(character: str) -> str:
    pairs = character.encode("utf-16-be")
    return "".join(f"\\u{pairs[at]:02x}{pairs[at + 1]:02x}" for at in range(0, len(pairs), 2))


def _sentence(line: JoinLine) -> str:
    where = f"{line.tenant_id}/{line.task_id}" + (f" {line.step_id}#{line.attempt}" if line.step_id else "")
    seq = "" if line.source_seq is None else f" seq {line.source_seq}"
    error = f" {line.error_code}" if line.error_code else ""
    text = f"{where} {line.message} v{line.task_version}{seq} by {line.producer_id}{error}"
    return f"{line.time[11:23]} {line.level:<7} {visible(text)}\n"
