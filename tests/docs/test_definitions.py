"""The guide to definitions is run as it stands, and the reference names every field a document may have."""

import re
import sqlite3
from pathlib import Path

from milepost.definitions import checking, operations, schemas, statuses
from tests.parts import pages

ROOT = Path(__file__).parents[2]


def test_every_block_of_the_guide_runs_as_it_stands(tmp_path: Path):
    done = pages.run(ROOT / "docs/how-to/define-a-task-type.md", tmp_path)
    assert done.returncode == 0, done.stderr
    out = done.stdout
    assert "mistaken.yaml:8: error: /statuses/0/lifecycleStatus RUNING is not known here; did you mean RUNNING?" in out
    assert "/operations/0/allowedDataSchemas/STEP_COMPLETED there is no schema invoice.red.v1; did you mean" in out
    assert "staleAfter is less than three heartbeats of 10 s" in out
    assert "INVOICE_READ version 1 published" in out
    assert "INVOICE_READ version 2 published" in out
    assert "the optional field due added" in out
    assert "the field due became required; invoice.read.v1 needs a new version" in out
    assert "0 changes; version not raised" in out
    assert "invoice.read.v2" in done.stderr
    tasks = sqlite3.connect(tmp_path / "milepost.db").execute(
        "SELECT title, definition_version, definition_id FROM task"
    )
    bound = {title: (version, definition_id is not None) for title, version, definition_id in tasks}
    assert bound == {"before.pdf": (1, False), "after.pdf": (1, True)}


def test_the_reference_names_every_field_and_no_other():
    text = (ROOT / "docs/reference/definitions.md").read_text(encoding="utf-8")
    sections = {
        "The task type": checking.FIELDS,
        "A status": statuses.FIELDS,
        "An operation": operations.FIELDS,
        "A data schema": schemas.FIELDS,
    }
    for title, known in sections.items():
        part = text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
        named = {
            name for cell in re.findall(r"^\| (`.+?) \|", part, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)
        }
        assert named == set(known), title
