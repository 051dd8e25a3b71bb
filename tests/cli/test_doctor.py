import socket

import pytest

from milepost.tokens.keys import load_or_make
from tests.parts.program import free_port


@pytest.fixture
def checked(milepost):
    """What the doctor finds, on a port that is free unless the test says otherwise."""

    def check(**environ: str):
        environ = {"MILEPOST_SERVER__PORT": str(free_port())} | environ
        done = milepost("doctor", "--json", **environ)
        worst = {finding["check"]: finding for finding in done.json}
        worst |= {finding["check"]: finding for finding in done.json if finding["state"] != "ok"}
        return done.code, worst

    return check


def test_an_empty_folder_is_a_good_place_to_start(checked, tmp_path):
    code, found = checked()
    assert code == 0
    assert {finding["state"] for finding in found.values()} == {"ok"}
    assert list(tmp_path.iterdir()) == [], "the doctor changes nothing"


def test_a_database_that_is_in_order_is_found_so(checked, milepost):
    milepost("tenants", "create", "t1")
    code, found = checked()
    assert code == 0
    assert {"settings", "keys", "disk", "database", "durability", "schema", "epoch", "port"} <= set(found)


def test_settings_that_are_wrong_are_found(checked):
    code, found = checked(MILEPOST_SERVER__PROT="1")
    assert code == 1
    assert "server.prot" in found["settings"]["says"]


def test_settings_that_this_version_cannot_follow_are_found(checked):
    code, found = checked(MILEPOST_WAKEUP__URL="redis://h")
    assert (code, found["settings"]["state"]) == (1, "wanting")


def test_a_key_that_others_may_read_is_found_with_what_to_do(checked, tmp_path):
    load_or_make(tmp_path / "milepost.db.key")
    (tmp_path / "milepost.db.key").chmod(0o644)
    code, found = checked()
    assert code == 1
    assert "0644" in found["keys"]["says"]
    assert found["keys"]["advice"] == "chmod 600 milepost.db.key"


def test_a_key_that_is_none_is_found(checked, tmp_path):
    (tmp_path / "milepost.db.key").write_text("k:hush")
    (tmp_path / "milepost.db.key").chmod(0o600)
    code, found = checked()
    assert (code, found["keys"]["state"]) == (1, "wanting")
    assert "hush" not in str(found)


def test_tables_that_are_behind_are_found(checked, tmp_path):
    (tmp_path / "milepost.db").touch()
    code, found = checked()
    assert (code, found["schema"]["state"]) == (1, "wanting")
    assert "milepost migrate" in found["schema"]["advice"]


def test_a_missing_witness_of_the_epoch_is_found(checked, milepost, tmp_path):
    milepost("tenants", "create", "t1")
    (tmp_path / "milepost.db.epoch").unlink()
    code, found = checked()
    assert (code, found["epoch"]["state"]) == (1, "wanting")


def test_a_damaged_file_is_found(checked, milepost, tmp_path):
    milepost("tenants", "create", "t1")
    (tmp_path / "milepost.db").write_bytes(b"nonsense" * 2000)
    code, found = checked()
    assert code == 3
    assert found["database"]["state"] == "unavailable"


def test_a_folder_that_is_not_there_is_found(checked):
    code, found = checked(MILEPOST_DATABASE__URL="sqlite:///gone/milepost.db")
    assert (code, found["disk"]["state"]) == (3, "unavailable")
    assert found["disk"]["advice"].startswith("mkdir")


def test_a_port_that_something_else_holds_is_found(checked):
    with socket.create_server(("127.0.0.1", 0)) as other:
        code, found = checked(MILEPOST_SERVER__PORT=str(other.getsockname()[1]))
    assert (code, found["port"]["state"]) == (1, "wanting")


def test_people_get_a_line_each_with_what_to_do_below(milepost, tmp_path):
    (tmp_path / "milepost.db").touch()
    done = milepost("doctor", MILEPOST_SERVER__PORT=str(free_port()))
    assert done.code == 1
    assert "BAD   schema" in done.out
    assert "→ run `milepost migrate`" in done.out
