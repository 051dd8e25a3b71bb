"""Runs the blocks of a page of the documentation as they stand: in order, in one shell, by the real program."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.parts.program import program

SERVED = "milepost serve --port 8700\n"
_BLOCK = re.compile(r"^```(sh background|sh|python|yaml \S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a page in a folder; its first block starts the service. `yaml NAME` is a file, the rest are commands."""
    served, *rest = _BLOCK.findall(page.read_text(encoding="utf-8"))
    assert served == ("sh background", SERVED)
    with program(folder) as server:
        script = "\n".join(_as_shell(kind, code) for kind, code in rest)
        told = script.replace("http://127.0.0.1:8700", server.url)
        settings = {"MILEPOST_DATABASE__URL": f"sqlite:///{folder / 'milepost.db'}"}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", told],
            cwd=folder,
            env={**os.environ, **settings, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def _as_shell(kind: str, code: str) -> str:
    if kind == "sh":
        return code
    if kind == "python":
        return f"python - <<'END_OF_BLOCK'\n{code}END_OF_BLOCK\n"
    name = kind.removeprefix("yaml ")
    return f"cat > {name} <<'END_OF_BLOCK'\n{code}END_OF_BLOCK\n"
