"""The lines of acceptance, the tests that say they carry one, and the page that joins them."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LINES = Path(__file__).with_name("lines.toml")
PAGE = ROOT / "docs/reference/acceptance.md"
HEAD = """\
# Acceptance

What Milepost promises, line by line, and the tests that hold it to that. A line without a test names the part that
will carry it. Written by `scripts/acceptance` from the tests' marks; a test compares it.
"""


class Mark(NamedTuple):
    """One test that carries a line; `name` is its function's."""

    line: str
    path: str
    name: str


def groups() -> dict[str, dict[str, str]]:
    """Every line by its group, with the part that will carry it, which is empty where tests do now."""
    read = tomllib.loads(LINES.read_text(encoding="utf-8"))
    return {group: dict(lines) for group, lines in read.items() if group != "parts"}


def parts() -> dict[str, str]:
    """The parts that are still to come, by the name that lines use."""
    return dict(tomllib.loads(LINES.read_text(encoding="utf-8"))["parts"])


def marks() -> list[Mark]:
    """Every mark in the tests, read without running them, in the order of files and lines."""
    files = sorted(ROOT.glob("tests/**/test_*.py"))
    return [mark for file in files for mark in marks_in(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))]


def marks_in(source: str, path: str) -> Iterator[Mark]:
    """The marks of one file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.accepts":
                    yield from (Mark(ast.literal_eval(said), path, node.name) for said in decorator.args)


def page() -> str:
    """The page as it must stand in the reference."""
    carried: dict[str, list[Mark]] = {}
    for mark in marks():
        carried.setdefault(mark.line, []).append(mark)
    told = [HEAD]
    for group, lines in groups().items():
        told.append(f"\n## {group}\n")
        told += [_told(line, later, carried.get(line, [])) for line, later in lines.items()]
    return "".join(told)


def _told(line: str, later: str, carried: list[Mark]) -> str:
    if later:
        return f"\n**{line}**\n\n- still to come, with {parts()[later]}\n"
    tests = [f"- [{_sentence(mark.name)}](../../{mark.path})\n" for mark in carried]
    return f"\n**{line}**\n\n{''.join(tests)}"


def _sentence(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")
