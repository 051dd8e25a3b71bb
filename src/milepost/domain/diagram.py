"""Draws the state machine from its tables, as Mermaid text: the documentation's diagrams are printed from here."""

from typing import Literal

from milepost.domain.lifecycle import ENDS, transitions


def diagram(scope: Literal["STEP", "TASK"]) -> str:
    """The life of one attempt of a step or of a task; arrows carry the events without their `STEP_` or `TASK_`."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for start, event, to in transitions():
        if event.startswith(scope):
            arrows.setdefault((start, to), []).append(event.removeprefix(f"{scope}_"))
    lines = ["[*] --> PENDING"]
    lines += [f"{start} --> {to}: {', '.join(events)}" for (start, to), events in arrows.items()]
    lines += [f"{end} --> [*]" for end in sorted(ENDS)]
    return "\n".join(["stateDiagram-v2", *(f"    {line}" for line in lines)]) + "\n"
