"""`milepost definitions`: what is wrong with the line, what changed and why, and what is published."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Milepost
from tests.parts.documents import document
from tests.parts.program import Program, free_port, program

GOOD = "taskType: T\nversion: 1\n"


def written(folder: Path, name: str, text: str | dict[str, Any]) -> str:
    (folder / name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return name


def test_a_good_document_is_told_so(milepost: Milepost, tmp_path: Path):
    done = milepost("definitions", "check", written(tmp_path, "a.yaml", GOOD))
    assert (done.code, done.out, done.err) == (0, "1 document: nothing is wrong\n", "")


def test_every_fault_is_one_line_with_file_line_place_and_advice(milepost: Milepost, tmp_path: Path):
    done = milepost("definitions", "check", written(tmp_path, "a.yaml", "taskTyp: T\nversion: 0\n"))
    assert done.code == 1
    assert done.out.splitlines() == [
        "a.yaml:1: error: taskType is missing; add taskType",
        "a.yaml:1: error: /taskTyp unknown field taskTyp; did you mean taskType?",
        "a.yaml:2: error: /version 0 cannot stand here; write a whole number from 1 to 1000000, without quotes",
    ]
    assert done.err == "milepost: 3 errors in a.yaml\n"


def test_programs_get_the_findings_as_json(milepost: Milepost, tmp_path: Path):
    done = milepost("definitions", "check", "--json", written(tmp_path, "a.yaml", "taskType: T\nversion: 0\n"))
    assert done.code == 1
    (finding,) = done.json
    assert (finding["file"], finding["line"], finding["path"], finding["level"]) == ("a.yaml", 2, "/version", "error")


def test_a_folder_stands_for_its_documents_and_warnings_pass(milepost: Milepost, tmp_path: Path):
    folder = tmp_path / "types"
    folder.mkdir()
    written(folder, "a.yaml", GOOD)
    said = document()
    del said["operations"][0]["projections"]
    written(folder, "b.json", said)
    written(folder, "notes.txt", "not a document")
    done = milepost("definitions", "check", "types")
    assert done.code == 0
    assert "types/b.json:1: warning: /operations/0/allowedDataSchemas nobody will see this data" in done.out
    assert done.out.endswith("2 documents: nothing is wrong\n")


@pytest.mark.parametrize("path", ["missing.yaml", "."])
def test_no_document_is_a_wrong_use(milepost: Milepost, path: str):
    done = milepost("definitions", "check", path)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1


def test_hostile_text_in_a_document_cannot_steer_a_terminal(milepost: Milepost, tmp_path: Path):
    done = milepost("definitions", "check", written(tmp_path, "a.json", {"taskType": "\x1b[2J\nx", "\x1b]0;x": 1}))
    assert done.code == 1
    assert "\x1b" not in done.out + done.err


def test_changes_are_told_with_what_needs_a_new_version_and_why(milepost: Milepost, tmp_path: Path):
    newer = document(version=2, displayName="Documents", progressMode="STEPS")
    newer["schemas"][0]["schema"]["properties"]["language"] = {"type": "string"}
    files = (written(tmp_path, "a.json", document()), written(tmp_path, "b.json", newer))
    done = milepost("definitions", "diff", *files)
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "compatible   /displayName: displayName changed",
        "new version  /progressMode: progressMode changed from WEIGHTED to STEPS; document needs a new version: "
        "percentages would mean something else",
        "compatible   /schemas/0/schema/properties/language: the optional field language added",
        "3 changes; version raised from 1 to 2",
    ]
    assert milepost("definitions", "diff", "--json", *files).json["raised"]


def test_what_stands_in_the_way_is_told_in_one_line(milepost: Milepost, tmp_path: Path):
    newer = document(displayName="Documents")
    newer["schemas"][0]["schema"]["required"] = []
    files = (written(tmp_path, "a.json", document()), written(tmp_path, "b.json", newer))
    done = milepost("definitions", "diff", *files)
    assert done.code == 1
    assert done.err == (
        "milepost: document.parsed.v1 changes in a way that needs a new name, such as document.parsed.v2; "
        "the version must be raised above 1: a published document never changes\n"
    )


def test_a_faulty_document_is_not_compared(milepost: Milepost, tmp_path: Path):
    files = (written(tmp_path, "a.yaml", GOOD), written(tmp_path, "b.yaml", "taskType: T\n"))
    done = milepost("definitions", "diff", *files)
    assert done.code == 1
    assert "b.yaml:1: error: version is missing" in done.out


@pytest.mark.parametrize(
    "arguments,code",
    [
        (("list", "--token", "x", "--url", "ftp://x"), 2),
        (("list",), 2),
        (("list", "--token", "x\ny"), 2),
        (("list", "--token", "mpc_x", "--url", f"http://127.0.0.1:{free_port()}"), 3),
        (("apply", "--token", "mpc_x"), 2),
        (("export", "--token", "mpc_x"), 2),
    ],
)
def test_what_cannot_be_meant_and_who_cannot_be_reached_are_told_apart(
    milepost: Milepost, arguments: tuple[str, ...], code: int
):
    done = milepost("definitions", *arguments)
    assert done.code == code
    assert len(done.err.splitlines()) == 1


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with program(tmp_path_factory.mktemp("server")) as running:
        yield running


def test_documents_are_published_listed_and_exported(milepost: Milepost, server: Program, tmp_path: Path):
    with_token = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": server.credential("release", "definitions")}
    first, second = document(taskType="CLI"), document(taskType="CLI", version=2, displayName="Grüße")
    names = (written(tmp_path, "a.json", first), written(tmp_path, "b.json", second))
    done = milepost("definitions", "apply", *names, **with_token)
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "CLI version 1 published",
        "CLI version 2 published",
        "  /displayName: displayName changed",
    ]
    again = milepost("definitions", "apply", "--json", *names, **with_token)
    assert [answer["published"]["version"] for answer in again.json] == [1, 2]
    told = milepost("definitions", "apply", names[0], **with_token)
    assert told.out == "CLI version 1 was published already\n"
    items = milepost("definitions", "list", "--type", "CLI", "--json", **with_token).json["items"]
    assert [(item["version"], item["publishedBy"], item["tenantId"]) for item in items] == [
        (1, "release", "t1"),
        (2, "release", "t1"),
    ]
    assert "(default)" not in milepost("definitions", "list", **with_token).out
    newest = milepost("definitions", "export", "CLI", **with_token).out
    assert "Grüße" in newest
    written(tmp_path, "again.yaml", newest)
    assert milepost("definitions", "diff", "b.json", "again.yaml").out.startswith("0 changes")
    older = milepost("definitions", "export", "CLI", "--version", "1", "--form", "json", **with_token)
    assert older.json == first
    assert milepost("definitions", "export", "UNHEARD", **with_token).code == 1


def test_nothing_is_published_where_one_document_is_faulty(milepost: Milepost, server: Program, tmp_path: Path):
    with_token = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": server.credential("release", "definitions")}
    names = (written(tmp_path, "a.json", document(taskType="HALF")), written(tmp_path, "b.yaml", "taskType: HALF\n"))
    done = milepost("definitions", "apply", *names, **with_token)
    assert done.code == 1
    assert "b.yaml:1: error: version is missing" in done.out
    assert milepost("definitions", "list", "--type", "HALF", "--json", **with_token).json["items"] == []


def test_what_the_service_refuses_is_told_with_the_line(milepost: Milepost, server: Program, tmp_path: Path):
    with_token = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": server.credential("release", "definitions")}
    text = "taskType: TWICE\nversion: 1\ndisplayName: One\n"
    assert milepost("definitions", "apply", written(tmp_path, "a.yaml", text), **with_token).code == 0
    done = milepost("definitions", "apply", written(tmp_path, "a.yaml", text.replace("One", "Two")), **with_token)
    assert done.code == 1
    assert done.out.startswith("a.yaml:2: error: /version Version 1 is published already")
    assert "VERSION_CONFLICT" in done.err


def test_a_credential_without_the_right_is_told_so(milepost: Milepost, server: Program, tmp_path: Path):
    with_token = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": server.credential("worker")}
    done = milepost("definitions", "apply", written(tmp_path, "a.yaml", GOOD), **with_token)
    assert done.code == 1
    assert "definitions" in done.err
    unknown = {"MILEPOST_URL": server.url, "MILEPOST_TOKEN": "mpc_0123456789abcdef_" + "x" * 43}
    assert milepost("definitions", "list", **unknown).code == 2


def test_required_definitions_refuse_types_that_nobody_defined(tmp_path: Path):
    with program(tmp_path, MILEPOST_DEFINITIONS__REQUIRED="true") as server:
        boss, release = server.credential("boss", "coordinate"), server.credential("release", "definitions")
        body = {"tenantId": "t1", "ownerId": "u1", "taskType": "T", "title": "x"}
        with server.client(boss) as client:
            refused = client.post("/internal/v1/tasks", json=body)
            assert (refused.status_code, refused.json()["code"]) == (422, "TASK_TYPE_UNKNOWN")
            done = server.run(
                "definitions", "apply", "--url", server.url, "--token", release, written(tmp_path, "a.yaml", GOOD)
            )
            assert done.returncode == 0, done.stderr
            assert client.post("/internal/v1/tasks", json=body).status_code == 201
