import os
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from milepost.cli.output import padded, printable, width
from milepost.cli.program import program

WANTED = """serve migrate tenants tenants.create tenants.list credentials credentials.create credentials.list
    credentials.revoke session session.create tasks tasks.list tasks.show tasks.events tasks.cancel watch settings
    settings.show keys keys.new database database.restored doctor demo"""


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


EVERY = list(commands(program))


def test_every_command_of_the_interface_is_there():
    assert {".".join(path) for path in EVERY} >= set(WANTED.split())


@pytest.mark.parametrize("path", [(), *EVERY], ids=" ".join)
def test_every_help_text_ends_with_one_example(milepost, path):
    done = milepost(*path, "--help")
    assert (done.code, done.err) == (0, "")
    head, _, example = done.out.rpartition("Example:\n")
    assert head.startswith("Usage: milepost")
    assert "milepost" in example
    assert " ".join(path) in example
    assert len(example.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments,says",
    [
        (["nothing"], "No such command 'nothing'"),
        (["serve", "--prot", "1"], "No such option"),
        (["serve", "--port", "x"], "'x' is not a valid integer"),
        (["serve", "--port", "70000"], "70000"),
        (["tenants", "create"], "Missing argument"),
        (["session", "create", "--tenant", "t"], "Missing option '--user'"),
        (["credentials", "create", "--producer", "p", "--tenant", "t", "--roles-up-to", "king"], "'king'"),
    ],
)
def test_a_command_that_is_used_wrongly_says_so_in_one_line_and_ends_with_2(milepost, arguments, says):
    done = milepost(*arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert len(done.err.splitlines()) == 1


def test_a_group_alone_shows_its_help_and_ends_with_2(milepost):
    done = milepost("tenants")
    assert done.code == 2
    assert "create" in done.err


@pytest.mark.parametrize("command", [["settings", "show"], ["tenants", "list"], ["serve"], ["migrate"]])
def test_settings_that_are_wrong_stop_every_command_with_one_line(milepost, command, tmp_path):
    (tmp_path / "milepost.toml").write_text("[server]\nprot = 1\n")
    done = milepost(*command)
    assert done.code == 2
    assert done.err == f"milepost: {tmp_path}/milepost.toml: unknown key server.prot; did you mean server.port?\n"


def test_settings_show_what_holds(milepost, tmp_path):
    (tmp_path / "other.toml").write_text("server.port = 1\n")
    shown = milepost("settings", "show", "--settings", "other.toml", MILEPOST_KEYS__CURRENT="k:hush")
    assert "port = 1" in shown.out
    assert "hush" not in shown.out
    told = milepost("settings", "show", "--json", MILEPOST_SETTINGS=str(tmp_path / "other.toml")).json
    assert told["settings"]["server"]["port"] == 1
    assert told["origins"] == {"server.port": str(tmp_path / "other.toml")}


def test_a_new_key_can_be_used_at_once(milepost):
    key = milepost("keys", "new").out.strip()
    assert milepost("tenants", "list", MILEPOST_KEYS__CURRENT=key).code == 0
    named = milepost("keys", "new", "--kid", "2026-11", "--json").json
    assert named["key"].startswith("2026-11:")
    assert milepost("keys", "new", "--kid", "a b").code == 2


def test_the_version_is_told(milepost):
    assert milepost("--version").out.startswith("milepost 0.")


def test_a_reader_that_had_enough_is_no_error():
    quick = "import sys; sys.argv = ['milepost', 'settings', 'show']; from milepost.cli import main; main()"
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([sys.executable, "-c", quick], stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_columns_are_as_wide_as_they_look():
    assert width("漢字") == 4
    assert padded("漢字", 6) == "漢字  "
    assert padded("漢字漢字", 6) == "漢字… "
    assert padded("abcdef", 4) == "abc…"
    assert printable("a\x1b[2Jb\nc") == "a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}c"
