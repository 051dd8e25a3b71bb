"""What the coordinator and its workers tell each other: one JSON value a line, through the worker's pipes."""

from typing import Literal

from msgspec import Struct

from milepost.demo.inventory import Inventory
from milepost.worker import Context, StepError

Work = Literal["prepare", "parse", "outline", "store"]


class Job(Struct, frozen=True, kw_only=True):
    """One step to be done. `pause`: seconds to rest after each page, so that people can follow."""

    work: Work
    context: Context
    document: str
    pause: float
    inventory: Inventory | None = None
    text: str | None = None

    @property
    def prepared(self) -> Inventory:
        """What the first step found. Raises `ValueError` for a job that comes before it."""
        if self.inventory is None:
            raise ValueError("the document was not prepared")
        return self.inventory


class Done(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a step gave: which of these depends on the work. `text` is the path of the extracted text, as JSON."""

    inventory: Inventory | None = None
    text: str | None = None
    pages: int = 0
    words: int = 0


class Word(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of a worker: READY for a job, at a PAGE, or a job's end."""

    kind: Literal["READY", "PAGE", "DONE", "FAILED", "CANCELLED"]
    page: int = 0
    total: int = 0
    done: Done | None = None
    error: StepError | None = None
