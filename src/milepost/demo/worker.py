"""A worker process: takes jobs from its standard input, does them, and reports them under its own credential.

Start: `python -m milepost.demo.worker`, with what it must know in `MILEPOST_DEMO_WORKER`. It ends
with its input, or on SIGTERM; a step that is interrupted so is reported as failed.
"""

import logging
import os
import signal
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from milepost.demo.crafts import CRAFTS, ERRORS, Bench
from milepost.demo.jobs import Job, Word
from milepost.worker import Limits, Reporter
from milepost.worker.errors import structured

VARIABLE = "MILEPOST_DEMO_WORKER"


class Setup(Struct, frozen=True):
    """What a worker must know: the service, its own secret, a folder to work in, and seconds between heartbeats."""

    url: str
    credential: str
    folder: str
    heartbeat: float = 2.0


def main() -> None:
    """Works until the input ends."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # What is wrong with a file is in its step's error.
    setup = msgspec.json.decode(os.environ.pop(VARIABLE), type=Setup)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    bench = Bench(Path(setup.folder), lambda page, total: _say(Word(kind="PAGE", page=page, total=total)))
    limits = Limits(heartbeat=setup.heartbeat, progress=0.3)
    with Reporter(setup.url, credential=setup.credential, limits=limits, errors=ERRORS) as reporter:
        _say(Word(kind="READY"))
        for line in sys.stdin.buffer:
            _say(_done(reporter, msgspec.json.decode(line, type=Job), bench))


def _done(reporter: Reporter, job: Job, bench: Bench) -> Word:
    ended = Word(kind="CANCELLED")
    try:
        with reporter.step(job.context) as step:
            ended = Word(kind="DONE", done=CRAFTS[job.work](step, job, bench))
    except Exception as raised:
        return Word(kind="FAILED", error=structured(raised, ERRORS))
    return ended


def _say(word: Word) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(word) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
