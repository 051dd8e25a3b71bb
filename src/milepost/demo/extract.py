"""Gets the text out of documents, page by page, so that progress counts what was really read."""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from msgspec import Struct

from milepost.demo.inventory import Kind

ROWS = 20
"""Rows of a table that count as a page."""


class Document(Struct, frozen=True):
    """A document that is open: how many pages it has, and their texts one after another."""

    total: int
    unit: str
    pages: Iterator[str]
    headings: tuple[str, ...]


def opened(path: Path, kind: Kind) -> Document:
    """Opens a document. Raises what its reader raises for a damaged one; pages may raise later, too."""
    if kind == "pdf":
        return _pdf(path)
    text = path.read_text(encoding="utf-8")
    if kind == "html":
        return _html(text)
    if kind == "markdown":
        return _markdown(text)
    return _csv(text) if kind == "csv" else _text(text)


def words(text: str) -> list[str]:
    """The words of a text: runs of letters, at least two."""
    return re.findall(r"[^\W\d_]{2,}", text)


def _pdf(path: Path) -> Document:
    from pypdf import PdfReader

    reader = PdfReader(path)
    pages = reader.pages
    titles = [entry.title or "" for entry in reader.outline if not isinstance(entry, list)]
    return Document(len(pages), "page", (page.extract_text() for page in pages), tuple(titles))


def _html(text: str) -> Document:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    for node in tree.css("script, style, head"):
        node.decompose()
    parts: list[list[str]] = [[]]
    headings: list[str] = []
    for node in tree.css("body > *"):
        said = " ".join(node.text(separator=" ").split())
        if node.tag in ("h1", "h2", "h3"):
            headings.append(said)
            parts.append([])
        parts[-1].append(said)
    return _sections(["\n".join(part) for part in parts if part], headings)


def _markdown(text: str) -> Document:
    from markdown_it import MarkdownIt

    parts: list[list[str]] = [[]]
    headings: list[str] = []
    in_heading = False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "heading_open":
            in_heading = True
            parts.append([])
        elif token.type in ("inline", "fence", "code_block"):
            said = token.content if token.children is None else " ".join(child.content for child in token.children)
            parts[-1].append(said)
            if in_heading:
                headings.append(said.strip())
                in_heading = False
    return _sections(["\n".join(part) for part in parts if part], headings)


def _csv(text: str) -> Document:
    header, *rows = list(csv.reader(StringIO(text)))
    count = -(-len(rows) // ROWS)
    pages = ("\n".join(" ".join(row) for row in [header, *rows[at * ROWS : (at + 1) * ROWS]]) for at in range(count))
    return Document(count, "page", pages, ())


def _text(text: str) -> Document:
    # A short line with an empty one on either side, or one that is underlined, begins a section.
    blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", text) if block.strip()]
    parts: list[list[str]] = [[]]
    headings: list[str] = []
    for block in blocks:
        first, _, rest = block.partition("\n")
        if (not rest and len(first) < 40) or set(rest.strip()) <= set("=-"):
            headings.append(first.strip())
            parts.append([])
        parts[-1].append(block)
    return _sections(["\n\n".join(part) for part in parts if part], headings)


def _sections(parts: list[str], headings: list[str]) -> Document:
    return Document(len(parts), "section", iter(parts), tuple(headings))
