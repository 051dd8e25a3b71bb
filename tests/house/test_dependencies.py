import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def names(requirements: list[object]) -> set[str]:
    found = {re.split(r"[^A-Za-z0-9-]", entry)[0] for entry in requirements if isinstance(entry, str)}
    return found - {"milepost"}


BASE = names(PROJECT["project"]["dependencies"])
EXTRAS = set[str]().union(*(names(extra) for extra in PROJECT["project"]["optional-dependencies"].values()))
GROUPS = {group: names(entries) for group, entries in PROJECT["dependency-groups"].items()}
DIRECT = BASE | EXTRAS | set[str]().union(*GROUPS.values())


def locked(set_name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{set_name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", text, flags=re.MULTILINE))


def test_every_dependency_has_its_reason():
    page = (ROOT / "docs/adr/0023-dependencies.md").read_text(encoding="utf-8")
    listed = {
        name for cell in re.findall(r"^\| ([a-z, -]+?) \|", page, flags=re.MULTILINE) for name in cell.split(", ")
    }
    assert listed - {"package"} == DIRECT


def test_the_locks_hold_what_the_project_asks_for():
    assert locked("dev").keys() >= DIRECT
    assert locked("run").keys() >= BASE | EXTRAS | GROUPS["install"]
    assert locked("uv").keys() >= GROUPS["uv"]


@pytest.mark.parametrize("smaller", ["run", "uv"])
def test_the_smaller_locks_are_cut_out_of_the_large_one(smaller: str):
    assert locked(smaller).items() <= locked("dev").items()


def test_the_run_set_carries_no_development_tools():
    assert locked("run").keys() & (GROUPS["dev"] - GROUPS["install"]) == set()
