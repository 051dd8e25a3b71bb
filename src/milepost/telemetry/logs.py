"""Structured logs on standard error: one record, one line, whatever text is in it.

Rooms log through `logging.getLogger("milepost.<room>")`; what they pass as `extra` becomes fields of the line.
"""

import json
import logging
import sys
import time
from typing import Any, Final, Literal, TextIO

from milepost.telemetry.redaction import scrub

Form = Literal["auto", "json", "text"]

_STANDARD: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message"}


class JsonLine(logging.Formatter):
    """A record as one JSON object in ASCII, so that no character in it can end the line."""

    def format(self, record: logging.LogRecord) -> str:
        """One line: time, level, logger, message, the fields, and the traceback where there is one."""
        line: dict[str, Any] = {
            "time": stamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return scrub(json.dumps(line, default=str))


class PlainLine(logging.Formatter):
    """A record for people: one line, and the traceback below it."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, message and fields; control characters are shown, never sent to the terminal."""
        fields = "".join(f" {name}={value}" for name, value in _extra(record).items())
        level = record.levelname.lower()
        text = f"{stamp(record.created)[11:23]} {level:<7} {visible(record.getMessage() + fields)}"
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()
            text += "".join(f"\n    {visible(line)}" for line in trace)
        return scrub(text)


def configure(level: str, form: Form = "auto", stream: TextIO | None = None) -> bool:
    """Sends every record of this process to standard error; True where they are in the form for people."""
    out = stream or sys.stderr
    plain = form == "text" or (form == "auto" and out.isatty())
    target = logging.StreamHandler(out)
    target.setFormatter(PlainLine() if plain else JsonLine())
    root = logging.getLogger()
    root.handlers[:] = [target]
    root.setLevel(level.upper())
    for chatty in ("uvicorn", "httpx", "httpcore", "alembic", "sqlalchemy"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
    # Trouble while logging is no reason to write tracebacks between the lines.
    logging.raiseExceptions = False
    return plain


def get_logger(name: str) -> logging.Logger:
    """The logger of a module, called by `__name__`."""
    return logging.getLogger(name)


def stamp(seconds: float) -> str:
    """An instant in seconds since 1970 as RFC 3339 UTC with milliseconds."""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(seconds * 1000) % 1000:03d}Z"


def visible(text: str) -> str:
    """The text with every character that could end the line or steer a terminal written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
