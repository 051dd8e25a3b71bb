"""What the lessons say is run as it stands: every block of a page, in order, by the real program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.program import program

ROOT = Path(__file__).parents[2]
LESSONS = sorted(ROOT.glob("docs/tutorial/[a-z]*.md"))
BLOCK = re.compile(r"^```(sh background|sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_every_block_of_a_lesson_runs_as_it_stands(lesson: Path, tmp_path: Path):
    blocks = BLOCK.findall(lesson.read_text(encoding="utf-8"))
    served, *rest = blocks
    assert served == ("sh background", "milepost serve --port 8700\n")
    with program(tmp_path) as server:
        script = "\n".join(_as_shell(kind, code) for kind, code in rest)
        told = script.replace("http://127.0.0.1:8700", server.url)
        settings = {"MILEPOST_DATABASE__URL": f"sqlite:///{tmp_path / 'milepost.db'}"}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", told],
            cwd=tmp_path,
            env={**os.environ, **settings, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "contract.pdf" in done.stdout


def _as_shell(kind: str, code: str) -> str:
    if kind == "sh":
        return code
    assert kind == "python"
    return f"python - <<'END_OF_BLOCK'\n{code}END_OF_BLOCK\n"


def test_there_is_a_lesson():
    assert [lesson.stem for lesson in LESSONS] == ["your-first-task"]
