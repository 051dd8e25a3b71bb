"""What the demonstration's workers find in its documents."""

import sqlite3
from pathlib import Path

import pytest
from pypdf.errors import PyPdfError

from milepost.demo.extract import opened, words
from milepost.demo.inventory import Checksum, chunks, documents, kind_of
from milepost.demo.shelf import Shelf

DOCUMENTS = {path.name: path for path in documents()}


def test_there_are_documents_of_every_kind():
    kinds = {kind_of(path.read_bytes(), path.name) for path in DOCUMENTS.values()}
    assert kinds == {"pdf", "html", "markdown", "csv", "text"}


@pytest.mark.parametrize(
    "name, total, unit, headings",
    [
        ("a-book-of-milestones.pdf", 14, "page", 14),
        ("valley-survey.pdf", 5, "page", 5),
        ("words-of-the-road.html", 8, "section", 8),
        ("how-to-read-a-milestone.md", 6, "section", 6),
        ("notes-of-a-long-walk.txt", 7, "section", 7),
        ("gradients.csv", 8, "page", 0),
    ],
)
def test_pages_and_headings_are_counted_as_they_are(name: str, total: int, unit: str, headings: int):
    path = DOCUMENTS[name]
    document = opened(path, kind_of(path.read_bytes(), name))
    assert (document.total, document.unit, len(document.headings)) == (total, unit, headings)
    texts = list(document.pages)
    assert len(texts) == total
    assert all(text.strip() for text in texts)


def test_the_damaged_document_really_is():
    with pytest.raises(PyPdfError):
        opened(DOCUMENTS["valley-survey-damaged.pdf"], "pdf")


def test_what_a_browser_would_not_show_is_not_text():
    text = "\n".join(opened(DOCUMENTS["words-of-the-road.html"], "html").pages)
    assert "must not be counted" not in text
    assert "this way & thought" in text


@pytest.mark.parametrize(
    "head, name, kind",
    [
        (b"%PDF-1.7", "x.txt", "pdf"),
        (b"\n<!DOCTYPE html>", "x", "html"),
        (b"# Title", "x.md", "markdown"),
        (b"a,b", "x.CSV", "csv"),
        (b"", "x", "text"),
    ],
)
def test_a_kind_is_told_by_the_bytes_before_the_name(head: bytes, name: str, kind: str):
    assert kind_of(head, name) == kind


def test_a_checksum_knows_size_and_kind():
    path = DOCUMENTS["valley-survey.pdf"]
    checksum = Checksum()
    for chunk in chunks(path):
        checksum.add(chunk)
    found = checksum.inventory(path.name)
    assert (found.kind, found.size) == ("pdf", path.stat().st_size)
    assert len(found.sha256) == 64


def test_a_document_that_is_stored_again_is_not_counted_twice(tmp_path: Path):
    for _ in range(2):
        shelf = Shelf(tmp_path / "shelf.db")
        shelf.begin("s", "a.txt", "text")
        shelf.add("s", 1, "one stone, one road")
        assert shelf.index("s", ["one stone, one road"]) == 4
        shelf.close()
    with sqlite3.connect(tmp_path / "shelf.db") as db:
        rows = db.execute("select word, times from word order by word").fetchall()
    db.close()
    assert rows == [("one", 2), ("road", 1), ("stone", 1)]


def test_words_are_runs_of_letters_in_any_script():
    assert words("Straße 12, Ärger_x; naïve 里程碑 a") == ["Straße", "Ärger", "naïve", "里程碑"]
