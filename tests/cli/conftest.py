import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from milepost.cli.program import run


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Milepost = Callable[..., Done]


@pytest.fixture
def milepost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Milepost:
    """Runs one command in an empty folder, with nothing in the environment but what the test says."""
    for name in [name for name in os.environ if name.startswith("MILEPOST_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, **environ: str) -> Done:
        with monkeypatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            capfd.readouterr()
            code = run(arguments)
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return call
