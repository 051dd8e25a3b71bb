from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.field_cases.cases import Case, made_case
from tests.parts.stand import stand


@pytest.fixture
async def case(tmp_path: Path) -> AsyncIterator[Case]:
    async with stand(tmp_path) as running:
        yield await made_case(running)
