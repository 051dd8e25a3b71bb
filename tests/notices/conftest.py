from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.notices.lit import Lit, lit


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Lit]:
    async with lit(tmp_path) as running:
        yield running
