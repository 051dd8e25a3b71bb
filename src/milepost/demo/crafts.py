"""The work of the demonstration's workers. It is real: what a step reports is what it found in the file."""

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import TypeVar

import msgspec
from pypdf.errors import PyPdfError

from milepost.demo.extract import opened, words
from milepost.demo.inventory import Checksum, chunks
from milepost.demo.jobs import Done, Job, Work
from milepost.demo.shelf import Shelf
from milepost.worker import Step, StepError, StepFailed

T = TypeVar("T")
Told = Callable[[int, int], None]

ERRORS: dict[type[BaseException], StepError] = {
    PyPdfError: StepError("BUSINESS_INPUT", "PDF_DAMAGED", "The PDF is damaged: its pages cannot be found.")
}


class Bench(msgspec.Struct):
    """Where a worker does its work: a folder of its own, and the way to tell the coordinator of a page."""

    folder: Path
    told: Told


def prepare(step: Step, job: Job, bench: Bench) -> Done:
    """Reads a file once: its size, its kind and its checksum."""
    path = Path(job.document)
    size = path.stat().st_size
    checksum = Checksum()
    step.stage("checksum")
    for _ in _paced(step, job, bench, list(chunks(path)), checksum.add):
        step.progress(checksum.size, size, unit="byte")
    found = checksum.inventory(path.name)
    step.message(f"{found.kind}, {found.size:,} bytes, sha256 {found.sha256[:12]}…")
    return Done(inventory=found)


def parse(step: Step, job: Job, bench: Bench) -> Done:
    """Extracts the text page by page."""
    document = opened(Path(job.document), job.prepared.kind)
    texts: list[str] = []
    for done in _paced(step, job, bench, document.pages, texts.append, total=document.total):
        step.progress(done, document.total, unit=document.unit)
    counted = sum(len(words(text)) for text in texts)
    kept = bench.folder / f"{job.context.task_id}-{job.context.step_attempt}.json"
    kept.write_bytes(msgspec.json.encode(texts))
    step.message(f"{len(texts)} {document.unit}s, {counted:,} words")
    return Done(text=str(kept), pages=len(texts), words=counted)


def outline(step: Step, job: Job, bench: Bench) -> Done:
    """Looks for the headings; a document without any fails here, which only warns."""
    try:
        headings = opened(Path(job.document), job.prepared.kind).headings
    except PyPdfError:
        headings = ()
    if not headings:
        raise StepFailed("BUSINESS_INPUT", "NO_HEADINGS", "There are no headings in this document.")
    found: list[str] = []
    for done in _paced(step, job, bench, headings, found.append):
        step.progress(done, len(headings), unit="heading")
    step.message(f"{len(found)} headings, the first: {found[0]}")
    return Done(pages=len(found))


def store(step: Step, job: Job, bench: Bench) -> Done:
    """Writes pages and words into the index."""
    texts = msgspec.json.decode(Path(job.text or "").read_bytes(), type=list[str])
    sha256 = job.prepared.sha256
    shelf = Shelf(bench.folder / "shelf.db")
    try:
        step.stage("pages")
        shelf.begin(sha256, Path(job.document).name, job.prepared.kind)
        numbered = list(enumerate(texts, 1))
        for done in _paced(step, job, bench, numbered, lambda page: shelf.add(sha256, *page), share=0.3):
            step.progress(done, len(texts), unit="page")
        step.stage("index")
        counted = shelf.index(sha256, texts)
        step.progress(counted, counted, unit="word")
        step.message(f"{counted:,} words are in the index")
        return Done(pages=len(texts), words=counted)
    finally:
        shelf.close()


CRAFTS: dict[Work, Callable[[Step, Job, Bench], Done]] = {
    "prepare": prepare,
    "parse": parse,
    "outline": outline,
    "store": store,
}


def _paced(
    step: Step,
    job: Job,
    bench: Bench,
    parts: Iterable[T],
    take: Callable[[T], object],
    *,
    total: int | None = None,
    share: float = 1.0,
) -> Iterator[int]:
    """Takes part after part and counts them; rests after each, and stops where the step was cancelled."""
    known = total if total is not None else len(parts) if isinstance(parts, Sized) else 0
    for done, part in enumerate(parts, 1):
        step.check()
        take(part)
        yield done
        bench.told(done, known)
        time.sleep(job.pause * share)
