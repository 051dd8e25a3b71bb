"""The documentation shows the state machine that runs."""

import re
from pathlib import Path

import pytest

from milepost.domain.diagram import diagram
from milepost.domain.lifecycle import ENDS

PAGE = Path(__file__).parents[2] / "docs/reference/state-machine.md"


def test_the_page_shows_the_diagrams_that_the_tables_give() -> None:
    shown = re.findall(r"```mermaid\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert shown == [diagram("STEP"), diagram("TASK")], "run scripts/diagrams"


@pytest.mark.accepts("terminal never returns to running")
def test_no_arrow_leaves_an_end_but_the_last() -> None:
    for scope in ("STEP", "TASK"):
        arrows = [line.split()[:3] for line in diagram(scope).splitlines()[1:]]
        assert {(start, to) for start, _, to in arrows if start in ENDS} == {(end, "[*]") for end in ENDS}
