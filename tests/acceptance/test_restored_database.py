"""A database file is put back under those who look: everybody notices, and nobody keeps the newer but false version.

`kept` had reached version 2 when the copy was taken and version 3 as a success afterwards; restored, its version 3 is
a failure. `same` never changed. `lost` was made after the copy, so that it never was.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.client import AsyncClient, AsyncLive, Tempo
from tests.acceptance.restored import Site
from tests.parts.program import program

QUICK = Tempo(first=0.05, longest=0.3)


def began(site: Site) -> None:
    site.create("same")
    site.create("kept")
    site.tell("kept", "TASK_STARTED")
    site.back_up()
    site.tell("kept", "TASK_COMPLETED")
    site.create("lost")


@pytest.mark.accepts("a restored database is recognised by every cursor, gate and ETag")
@pytest.mark.accepts("backup restored and verified, cursors reset")
def test_what_was_remembered_of_the_lost_life_is_never_taken_for_the_new_one(tmp_path: Path) -> None:
    with program(tmp_path) as server:
        site = Site(server, tmp_path)
        began(site)
        page = site.get("/api/tasks?limit=1").json()
        tags = {name: site.get(f"/api/tasks/{name}").headers["etag"] for name in ("same", "kept", "lost")}
        assert site.get("/api/tasks/same", if_none_match=tags["same"]).status_code == 304
        assert site.newer({"kept": "3"}, page["epoch"])["items"] == []

        site.restore()
        site.tell("kept", "TASK_FAILED")

        epoch = site.get("/api/tasks").json()["epoch"]
        assert epoch != page["epoch"]
        found = {name: site.get(f"/api/tasks/{name}", if_none_match=tags[name]) for name in tags}
        assert {name: answer.status_code for name, answer in found.items()} == {"same": 200, "kept": 200, "lost": 404}
        shown = found["kept"].json()["task"]
        assert (shown["version"], shown["lifecycleStatus"]) == ("3", "FAILED")
        assert all(answer.headers["milepost-epoch"] == epoch for answer in found.values())

        newer = site.newer({"same": "1", "kept": "3", "lost": "1"}, page["epoch"])
        assert {item["id"]: item["version"] for item in newer["items"]} == {"same": "1", "kept": "3"}
        assert (newer["gone"], newer["epoch"]) == (["lost"], epoch)

        for query in (f"changedAfter={page['streamCursor']}", f"limit=1&cursor={page['nextCursor']}"):
            refused = site.get(f"/api/tasks?{query}")
            assert (refused.status_code, refused.json()["code"]) == (410, "CURSOR_EXPIRED"), query


@pytest.mark.accepts("a restored database is recognised by every cursor, gate and ETag")
def test_a_stream_resumed_with_a_cursor_of_the_lost_life_owes_a_snapshot(tmp_path: Path) -> None:
    with program(tmp_path) as server:
        site = Site(server, tmp_path)
        began(site)
        cursor = site.get("/api/tasks").json()["streamCursor"]
        site.restore()
        epoch = site.get("/api/tasks").json()["epoch"]
        for path in ("/api/stream", "/api/tasks/kept/stream"):
            with (
                server.client(site.viewer) as http,
                http.stream("GET", path, headers={"last-event-id": cursor}) as stream,
            ):
                lines = stream.iter_lines()
                assert next(line for line in lines if line == "event: reset"), path
                told = next(line for line in lines if line.startswith("data:"))
                assert '"reason":"EPOCH"' in told.replace(" ", "")
                assert f'"cursor":"{epoch}:' in told.replace(" ", "")


@pytest.mark.accepts("a restored database is recognised by every cursor, gate and ETag")
@pytest.mark.parametrize("watched", [None, "kept"], ids=["list", "detail"])
async def test_a_live_view_drops_the_false_end_and_shows_the_true_one(tmp_path: Path, watched: str | None) -> None:
    with program(tmp_path) as server:
        site = await asyncio.to_thread(Site, server, tmp_path)
        await asyncio.to_thread(began, site)
        async with (
            AsyncClient(server.url, token=site.viewer, tempo=QUICK) as client,
            client.live(watched) as live,
        ):
            await until(live, lambda: state(live, watched) == ("3", "SUCCEEDED"))
            await asyncio.to_thread(site.restore)
            await until(live, lambda: state(live, watched) == ("2", "RUNNING"))
            if watched is None:
                assert {task.id for task in live.store.tasks()} == {"same", "kept"}
            await asyncio.to_thread(site.tell, "kept", "TASK_FAILED")
            await until(live, lambda: state(live, watched) == ("3", "FAILED"))


def state(live: AsyncLive, watched: str | None) -> tuple[str, str] | None:
    detail = live.store.detail("kept")
    task = live.store.task("kept") if watched is None else detail and detail.task
    return None if task is None else (str(task.version), str(task.lifecycle_status))


async def until(live: AsyncLive, seen: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not seen():
            await anext(live)
