from pathlib import Path

from tests.cli.test_serving import create
from tests.parts.program import program


def test_notifications_are_listed_and_marked_as_read_from_a_terminal(milepost, tmp_path: Path):
    with program(tmp_path) as server:
        secret = server.credential("api", "report,coordinate")
        made = create(server, secret, title="contract\x1b[2J.pdf", taskId="contract-7")
        end = {
            "eventId": "end",
            "taskId": "contract-7",
            "taskType": made["task"]["taskType"],
            "taskAttempt": 1,
            "producerId": "api",
            "eventType": "TASK_COMPLETED",
            "occurredAt": "2027-01-15T08:00:00.123Z",
        }
        with server.client(secret) as client:
            assert client.post("/internal/v1/task-events", json=end).status_code == 200
        environ = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": server.session(made["task"]["ownerId"])}
        told = milepost("notices", "list", "--unread", "--json", **environ).json
        assert (told["unreadCount"], told["items"][0]["type"]) == (1, "task.succeeded")
        text = milepost("notices", "list", **environ).out
        assert "\x1b" not in text
        assert text.splitlines()[-1] == "1 unread"
        assert milepost("notices", "read", **environ).code == 2
        assert milepost("notices", "read", told["items"][0]["id"], **environ).out == "1 marked as read\n"
        assert milepost("notices", "read", "--all", "--json", **environ).json == {"marked": 0}
        assert milepost("notices", "list", "--unread", "--json", **environ).json["items"] == []
