import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Put together here, so that this file does not contain what it plants.
REGISTRY = ".".join(["files", "pythonhost" + "ed", "org"])
HOME = "/" + "/".join(["home", "ada", "milepost"])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "scripts").mkdir()
    script = (ROOT / "scripts/check-tracked").read_text(encoding="utf-8")
    (tmp_path / "scripts/check-tracked").write_text(script, encoding="utf-8")
    return tmp_path


def check(tree: Path) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(tree / "scripts/check-tracked")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_clean_tree_passes(tree: Path):
    (tree / "notes.md").write_text("see /api/tasks and docs/work/here, https://example.org/home/x\n", encoding="utf-8")
    assert check(tree).returncode == 0


@pytest.mark.parametrize("text", [f"https://{REGISTRY}/x", f"cd {HOME}", f'path = "{HOME}"'])
def test_a_registry_or_a_machines_path_is_found(tree: Path, text: str):
    (tree / "notes.md").write_text(f"{text}\n", encoding="utf-8")
    result = check(tree)
    assert result.returncode == 1
    assert "notes.md:1" in result.stdout
