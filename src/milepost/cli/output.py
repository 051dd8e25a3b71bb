"""What commands print: JSON for programs, aligned columns for people, CSV for tables elsewhere."""

import csv
import io
from collections.abc import Sequence
from typing import Any, Final
from unicodedata import combining, east_asian_width

import click
import msgspec


def print_json(value: Any) -> None:
    """One JSON value on one line."""
    click.echo(msgspec.json.encode(value))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows under headings, in columns as wide as their contents."""
    texts = [[printable("" if cell is None else str(cell)) for cell in row] for row in rows]
    lines = [list(headings), *texts]
    widths = [max(width(line[at]) for line in lines) for at in range(len(headings))]
    for line in lines:
        click.echo("  ".join(padded(cell, wide) for cell, wide in zip(line, widths, strict=True)).rstrip())


def print_fields(fields: Sequence[tuple[str, object]]) -> None:
    """Names and values, one pair a line; what is None is left out."""
    shown = [(name, printable(str(value))) for name, value in fields if value is not None]
    wide = max((width(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{padded(name, wide)}  {value}")


def print_csv(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """RFC 4180, with a header line; whatever opens it computes nothing and breaks no line."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(headings)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    click.echo(out.getvalue(), nl=False)


_FORMULA: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, in both widths."""


def _cell(value: object) -> object:
    """A number as it is, negative ones too; a text in one line, and as a text even where it looks like a formula."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    text = printable(str(value))
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def printable(text: str) -> str:
    """The text without anything that could steer a terminal or break its line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def width(text: str) -> int:
    """How many columns a terminal needs for this text."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, wide: int) -> str:
    """The text filled with blanks, or cut with a mark, to exactly this many columns."""
    have = width(text)
    if have <= wide:
        return text + " " * (wide - have)
    kept, used = "", 1
    for character in text:
        used += width(character)
        if used > wide:
            break
        kept += character
    return kept + "…" + " " * (wide - width(kept) - 1) if wide > 0 else ""
