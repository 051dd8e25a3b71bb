"""What the lessons say is run as it stands: every block of a page, in order, by the real program."""

from pathlib import Path

import pytest

from tests.parts import pages

ROOT = Path(__file__).parents[2]
LESSONS = sorted(ROOT.glob("docs/tutorial/[a-z]*.md"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_every_block_of_a_lesson_runs_as_it_stands(lesson: Path, tmp_path: Path):
    done = pages.run(lesson, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "contract.pdf" in done.stdout


def test_there_is_a_lesson():
    assert [lesson.stem for lesson in LESSONS] == ["your-first-task"]
