from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.parts.stand import Stand, stand


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Stand]:
    async with stand(tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stand]:
    """One service for many examples, each in tenants of its own."""
    async with stand(tmp_path_factory.mktemp("shared")) as running:
        yield running
