"""A viewer who watches while a task is deleted, and one who comes back afterwards, both learn that it is gone."""

from pathlib import Path

from milepost.client import Client
from milepost.worker import Coordinator
from tests.parts.program import program


def test_who_watches_and_who_comes_back_learn_of_a_deletion(tmp_path: Path) -> None:
    with program(tmp_path) as server:
        secret, token = server.credential("api", "report,coordinate"), server.session("u1")
        with (
            Coordinator(server.url, credential=secret) as coordinator,
            Client(server.url, token=token) as client,
            Client(server.url, token=token) as second,
        ):
            task = coordinator.create(tenant="t1", owner="u1", type="T", title="gone soon")
            task.complete()
            live = client.live()
            seen = next(change for change in live if change.kind in ("SNAPSHOT", "TASK"))
            assert seen.kind == "SNAPSHOT"
            cursor = second.tasks().stream_cursor
            task.delete()
            gone = next(change for change in live if change.kind in ("TASK", "REMOVED"))
            assert (gone.kind, gone.task_id) == ("REMOVED", task.id)
            live.close()
        with server.client(token) as http, http.stream("GET", f"/api/stream?after={cursor}") as stream:
            lines = (line for line in stream.iter_lines() if line.startswith("event: "))
            assert [next(lines), next(lines)] == ["event: hello", "event: task.removed"]
