"""Another life of a file is noticed, and the same life is not taken for another."""

import asyncio
import shutil
import sqlite3
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from milepost.ports.storage import Writes
from milepost.storage.sqlite import life
from milepost.storage.sqlite.store import SchemaBehind, SqliteStorage, open_sqlite
from milepost.testing.clock import ManualClock
from milepost.testing.sqlite_site import SqliteSite
from milepost.testing.storage_suite import samples
from milepost.testing.storage_suite.site import TENANT, write


async def advance(store: SqliteStorage, entries: int = 1) -> None:
    await store.access.add_tenant(TENANT, 0)
    await write(store, Writes(entries=[samples.an_entry()] * entries))


async def epoch_at(site: SqliteSite) -> str:
    async with site.open() as store:
        return await store.epoch()


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def lived(site: SqliteSite, entries: int = 3) -> str:
    async with site.open() as store:
        await advance(store, entries)
        return await store.epoch()


async def test_a_new_file_gets_an_epoch_and_a_witness(site: SqliteSite):
    epoch = await lived(site, 3)
    assert life.witness_path(site.path).read_text() == f'{{"epoch":"{epoch}","tops":3}}'


async def test_two_new_files_have_different_epochs(site: SqliteSite, tmp_path: Path):
    other = SqliteSite(tmp_path / "other.db").migrate()
    assert await epoch_at(site) != await epoch_at(other)


async def test_an_older_copy_put_back_is_another_life(site: SqliteSite, tmp_path: Path):
    first = await lived(site)
    backup = shutil.copy(site.path, tmp_path / "backup")
    assert await lived(site, 2) == first
    shutil.copy(backup, site.path)
    second = await epoch_at(site)
    assert second != first
    assert await epoch_at(site) == second


async def test_a_file_of_another_database_is_another_life(site: SqliteSite, tmp_path: Path):
    first = await lived(site)
    other = SqliteSite(tmp_path / "other.db").migrate()
    foreign = await lived(other, 50)
    shutil.copy(other.path, site.path)
    assert await epoch_at(site) not in {first, foreign}


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"epoch":1,"tops":3}', b"\xff\x00"])
async def test_a_file_whose_witness_is_lost_or_broken_is_another_life(site: SqliteSite, content: bytes | None):
    first = await lived(site)
    witness = life.witness_path(site.path)
    witness.unlink() if content is None else witness.write_bytes(content)
    second = await epoch_at(site)
    assert second != first
    assert await epoch_at(site) == second


async def test_a_new_file_beside_an_old_witness_is_another_life(site: SqliteSite, empty_file: Path):
    first = await lived(site)
    shutil.copy(empty_file, site.path)
    assert await epoch_at(site) != first


async def test_a_witness_that_lags_behind_is_the_same_life(site: SqliteSite):
    first = await lived(site, 3)
    witness = life.witness_path(site.path)
    older = witness.read_bytes()
    await lived(site, 2)
    witness.write_bytes(older)
    assert await epoch_at(site) == first


async def test_a_process_killed_right_after_a_commit_leaves_the_same_life(site: SqliteSite):
    first = await lived(site)
    program = (
        "import asyncio, os, sys; from pathlib import Path; from milepost.testing.sqlite_site import SqliteSite\n"
        "from milepost.testing.storage_suite import samples; from milepost.ports.storage import Writes\n"
        "from milepost.testing.storage_suite.site import write\n"
        "async def run():\n"
        "    store = SqliteSite(Path(sys.argv[1])).open()\n"
        "    await write(store, Writes(entries=[samples.an_entry()] * 4))\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(run())"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program, site.path)
    assert await child.wait() == -9
    assert '"tops":3' in life.witness_path(site.path).read_text()
    async with site.open() as store:
        assert await store.epoch() == first
        assert (await store.stream_log.tops([TENANT])).windows[TENANT].top == 7


async def test_a_process_killed_between_witness_and_commit_costs_one_epoch_and_then_none(site: SqliteSite):
    first = await lived(site)
    connection = sqlite3.connect(site.path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    unborn = life.renew(connection, life.witness_path(site.path), 0)
    connection.execute("ROLLBACK")
    connection.close()
    second = await epoch_at(site)
    assert second not in {first, unborn}
    assert await epoch_at(site) == second


async def test_the_witness_follows_within_a_second_of_a_commit_while_the_process_lives(site: SqliteSite):
    async with site.open() as store:
        await advance(store, 5)
        # The writer thread does it in an idle moment; any later job finds it done once its time has come.
        witness = life.witness_path(site.path)
        for _ in range(20_000):
            await store.stream_log.tops([TENANT])
            if '"tops":5' in witness.read_text():
                break
        assert '"tops":5' in witness.read_text()


async def test_two_that_open_an_older_copy_at_once_agree_on_the_new_life(site: SqliteSite, tmp_path: Path):
    first = await lived(site)
    backup = shutil.copy(site.path, tmp_path / "backup")
    await lived(site, 2)
    shutil.copy(backup, site.path)
    program = (
        "import asyncio, sys; from pathlib import Path; from milepost.testing.sqlite_site import SqliteSite\n"
        "async def run():\n"
        "    store = SqliteSite(Path(sys.argv[1])).open(); print(await store.epoch()); await store.close()\n"
        "asyncio.run(run())"
    )
    children = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", program, site.path, stdout=PIPE) for _ in range(3)
    ]
    answers = {(await child.communicate())[0] for child in children}
    assert len(answers) == 1
    assert answers != {f"{first}\n".encode()}


async def test_tables_that_are_behind_are_said_so(tmp_path: Path):
    with pytest.raises(SchemaBehind, match="milepost migrate"):
        open_sqlite(tmp_path / "none.db", ManualClock())
    assert files(tmp_path) == set()
