import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest


def test_a_tenant_is_made_once_and_listed(milepost):
    assert milepost("tenants", "create", "acme", "--json").json == {"tenantId": "acme", "created": True}
    assert milepost("tenants", "create", "acme", "--json").json == {"tenantId": "acme", "created": False}
    assert milepost("tenants", "list", "--json").json == [{"tenantId": "acme"}]
    assert milepost("tenants", "list").out == "acme\n"


def test_a_credential_is_shown_once_and_makes_its_tenant(milepost):
    made = milepost("credentials", "create", "--producer", "parser", "--tenant", "t1", "--json").json
    assert made["producerId"] == "parser"
    assert re.fullmatch(r"mpc_[a-z0-9]{16}_[A-Za-z0-9_-]{43}", made["secret"])
    assert made["rights"] == ["report"]
    assert milepost("tenants", "list").out == "t1\n"
    listed = milepost("credentials", "list")
    assert made["credentialId"] in listed.out
    assert made["secret"] not in listed.out
    (told,) = milepost("credentials", "list", "--json").json
    assert (told["rolesUpTo"], told["tenantId"], told["revokedAt"]) == ("member", "t1", None)


def test_a_tenant_is_not_made_where_that_is_refused(milepost):
    done = milepost("credentials", "create", "--producer", "p", "--tenant", "t1", "--no-tenant")
    assert done.code == 1
    assert "there is no tenant t1" in done.err
    assert milepost("tenants", "list").out == ""


def test_rights_and_the_ceiling_are_as_given(milepost):
    made = milepost(
        *("credentials", "create", "--producer", "backend", "--all-tenants"),
        *("--can", "sessions, coordinate", "--roles-up-to", "operator", "--json"),
    ).json
    assert (made["rights"], made["rolesUpTo"], made["tenantId"]) == (["coordinate", "sessions"], "operator", None)


@pytest.mark.parametrize(
    "options,says",
    [
        (["--producer", "p"], "--tenant or --all-tenants"),
        (["--producer", "p", "--tenant", "t", "--all-tenants"], "--tenant or --all-tenants"),
        (["--producer", "p", "--tenant", "t", "--can", "report,fly"], "fly is no right"),
        (["--producer", "p", "--tenant", "t", "--can", ","], "no right"),
        (["--producer", "a b", "--tenant", "t"], "--producer: expected 1 to 128"),
        (["--producer", "p", "--tenant", "t/1"], "--tenant: expected 1 to 128"),
    ],
)
def test_a_credential_that_makes_no_sense_is_refused(milepost, options, says):
    done = milepost("credentials", "create", *options)
    assert done.code == 2
    assert says in done.err
    assert milepost("credentials", "list", "--json").json == []


def test_a_credential_is_revoked_once(milepost):
    made = milepost("credentials", "create", "--producer", "p", "--tenant", "t", "--json").json
    assert milepost("credentials", "revoke", made["credentialId"]).code == 0
    assert milepost("credentials", "list", "--json").json[0]["revokedAt"] is not None
    again = milepost("credentials", "revoke", made["credentialId"])
    assert (again.code, len(again.err.splitlines())) == (1, 1)


def test_a_session_is_a_token_and_a_link(milepost):
    milepost("tenants", "create", "t1")
    made = milepost("session", "create", "--tenant", "t1", "--user", "alice", "--json").json
    assert re.fullmatch(r"mps_[a-z0-9]{16}_[A-Za-z0-9_-]{43}", made["token"])
    assert re.fullmatch(r"http://127\.0\.0\.1:8700/#code=mpl_[a-z0-9]{16}_[A-Za-z0-9_-]{43}", made["link"])
    assert milepost("session", "create", "--tenant", "t1", "--user", "me@example.com").code == 0


def test_the_link_leads_to_where_people_reach_the_service(milepost):
    milepost("tenants", "create", "t1")
    create = ("session", "create", "--tenant", "t1", "--user", "u", "--json")
    for environ, start in (
        ({"MILEPOST_SERVER__PORT": "9000"}, "http://127.0.0.1:9000/#code="),
        ({"MILEPOST_SERVER__HOST": "0.0.0.0"}, "http://127.0.0.1:8700/#code="),
        ({"MILEPOST_SERVER__HOST": "::1"}, "http://[::1]:8700/#code="),
        ({"MILEPOST_SERVER__PUBLIC_URL": "https://status.example/"}, "https://status.example/#code="),
        ({"MILEPOST_URL": "http://127.0.0.1:9001"}, "http://127.0.0.1:9001/#code="),
    ):
        assert milepost(*create, **environ).json["link"].startswith(start)


@pytest.mark.parametrize(
    "options,code,says",
    [
        (["--tenant", "nobody", "--user", "u"], 1, "there is no tenant nobody"),
        (["--tenant", "t1", "--user", ""], 2, "--user: empty"),
        (["--tenant", "t1", "--user", "é" * 60], 2, "--user: empty, or longer"),
        (["--tenant", "t1", "--user", "u", "--ttl", "25h"], 2, "24h at most"),
        (["--tenant", "t1", "--user", "u", "--ttl", "soon"], 2, "--ttl: "),
        (["--tenant", "t1", "--user", "u", "--project", "a b"], 2, "--project: expected"),
    ],
)
def test_a_session_that_makes_no_sense_is_refused(milepost, options, code, says):
    milepost("tenants", "create", "t1")
    done = milepost("session", "create", *options)
    assert done.code == code
    assert says in done.err
    assert len(done.err.splitlines()) == 1


def test_a_new_epoch_can_be_begun_by_hand(milepost):
    first, second = (milepost("database", "restored", "--json").json["epoch"] for _ in range(2))
    assert first != second


def test_migrating_is_checked_printed_and_done(milepost, tmp_path):
    behind = milepost("migrate", "--check")
    assert (behind.code, len(behind.err.splitlines())) == (1, 1)
    assert not (tmp_path / "milepost.db").exists()
    assert "CREATE TABLE" in milepost("migrate", "--sql").out
    assert milepost("migrate").code == 0
    assert milepost("migrate", "--check").code == 0


@pytest.mark.parametrize(
    "url,code,says",
    [
        ("postgresql://me:hush@127.0.0.1:1/x", 2, "SQLite only"),
        ("sqlite://", 2, "expected sqlite:///path"),
        ("sqlite:///:memory:", 2, "expected sqlite:///path"),
        ("sqlite:///x.db?mode=ro", 2, "expected sqlite:///path"),
        ("oracle://x", 2, "expected sqlite:///path"),
        ("sqlite:////nowhere/at/all/milepost.db", 3, "unable to open"),
    ],
)
def test_a_database_that_cannot_be_had_is_told_in_one_line(milepost, url, code, says):
    done = milepost("tenants", "list", MILEPOST_DATABASE__URL=url)
    assert done.code == code
    assert says in done.err
    assert "hush" not in done.err
    assert len(done.err.splitlines()) == 1


def test_a_file_that_is_no_database_is_told_in_one_line(milepost, tmp_path):
    (tmp_path / "milepost.db").write_text("not a database, but long enough to be looked at" * 100)
    done = milepost("tenants", "list")
    assert done.code == 3
    assert len(done.err.splitlines()) == 1


def test_a_database_of_a_newer_version_is_left_alone(milepost, tmp_path):
    milepost("tenants", "create", "t1")
    with closing(sqlite3.connect(tmp_path / "milepost.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    done = milepost("tenants", "list")
    assert done.code == 1
    assert "made by another version of Milepost" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_command_does_not_load_what_it_does_not_need(tmp_path):
    code = (
        "import sys; from milepost.cli.program import run; code = run(sys.argv[1:]);"
        "print(code, *sorted({'alembic', 'sqlalchemy', 'starlette', 'uvicorn'} & set(sys.modules)), file=sys.stderr)"
    )
    subprocess.run([sys.executable, "-m", "milepost", "migrate"], cwd=tmp_path, capture_output=True, check=True)
    for arguments, loaded in ((["settings", "show"], "0"), (["tenants", "list"], "0 sqlalchemy")):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == loaded
