import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "changelog.d/README.md"])
DECISIONS = sorted(ROOT.glob("docs/adr/[0-9]*.md"))
HEADINGS = ["Context", "Decision", "Consequences", "Guarded by"]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages_lead_somewhere(page: Path):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", DECISIONS, ids=name)
def test_a_decision_has_its_parts_and_fits_on_a_screen(page: Path):
    text = page.read_text(encoding="utf-8")
    assert re.match(rf"# {int(page.name[:4])}\. \S", text)
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == HEADINGS
    assert len(text.splitlines()) <= 60


@pytest.mark.parametrize("page", DECISIONS, ids=name)
def test_the_tests_that_guard_a_decision_exist(page: Path):
    named = re.findall(r"`(tests/[\w/]+\.py)`", page.read_text(encoding="utf-8"))
    assert [test for test in named if not (ROOT / test).exists()] == []


def test_the_index_names_every_decision_by_its_title():
    index = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")
    titles = [page.read_text(encoding="utf-8").splitlines()[0].split(". ", 1)[1] for page in DECISIONS]
    rows = [f"| [{int(page.name[:4])}]({page.name}) | {title} |" for page, title in zip(DECISIONS, titles, strict=True)]
    assert [row for row in rows if row not in index] == []


def test_the_page_on_rooms_names_every_room():
    text = (ROOT / "docs/explanation/rooms.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in ROOT.glob("src/milepost/*/__init__.py")}
    assert {room for room in rooms if f"`{room}`" not in text} == set()
