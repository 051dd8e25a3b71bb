"""Claims among real processes on one file: never two holders, never a token twice."""

import asyncio
import sys
from pathlib import Path

from milepost.testing.sqlite_site import SqliteSite

PROGRAM = """
import asyncio, pathlib, sys
from milepost.testing.sqlite_site import SqliteSite

async def run(file, notes, name, times):
    store = SqliteSite(pathlib.Path(file), 10.0).open()
    while times:
        claim = await store.claims.take("work", name, 60_000)
        if claim is None:
            await asyncio.sleep(0.001)
            continue
        with open(notes, "a") as log:
            log.write(f"in {name} {claim.token}\\n")
            log.flush()
            await asyncio.sleep(0.001)
            log.write(f"out {name} {claim.token}\\n")
        assert await store.claims.complete(claim, 0)
        assert await store.claims.renew(claim, 60_000) is None
        times -= 1
    await store.close()

asyncio.run(run(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
"""


async def test_processes_take_turns_and_never_share_a_token(site: SqliteSite, tmp_path: Path):
    notes, times = tmp_path / "notes", 15
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, str(site.path), str(notes), name, str(times)
        )
        for name in ("a", "b", "c")
    ]
    assert await asyncio.gather(*(child.wait() for child in children)) == [0, 0, 0]
    lines = [line.split() for line in notes.read_text().splitlines()]
    assert [word for word, _, _ in lines] == ["in", "out"] * (3 * times)
    assert [int(token) for word, _, token in lines if word == "in"] == list(range(1, 3 * times + 1))
    assert all(first[1:] == second[1:] for first, second in zip(lines[::2], lines[1::2], strict=True))


async def test_the_work_of_a_killed_process_is_taken_over_under_a_higher_token(site: SqliteSite):
    program = (
        "import asyncio, os, pathlib, signal, sys\n"
        "from milepost.testing.sqlite_site import SqliteSite\n"
        "async def run():\n"
        "    store = SqliteSite(pathlib.Path(sys.argv[1])).open()\n"
        "    assert await store.claims.take('work', 'dead', 0)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(run())\n"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(site.path))
    assert await child.wait() == -9
    async with site.open() as store:
        claim = await store.claims.take("work", "heir", 60_000)
    assert claim is not None
    assert claim.token == 2
