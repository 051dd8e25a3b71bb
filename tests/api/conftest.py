from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.parts.stand import Stand, stand


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Stand]:
    async with stand(tmp_path) as running:
        yield running
