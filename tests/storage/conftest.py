import shutil
from pathlib import Path

import pytest

from milepost.testing.sqlite_site import SqliteSite


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return SqliteSite(tmp_path_factory.mktemp("template") / "milepost.db").migrate().path


@pytest.fixture
def site(empty_file: Path, tmp_path: Path) -> SqliteSite:
    return SqliteSite(Path(shutil.copy(empty_file, tmp_path / "milepost.db")))
