import base64
import multiprocessing
import stat
from pathlib import Path

import pytest

from milepost.tokens.keys import KeyInvalid, KeyRing, SigningKey, load_or_make, new_key, parse_key


def test_a_new_key_is_32_random_bytes_under_a_kid():
    text = new_key()
    key = parse_key(text)
    assert len(key.secret) == 32
    assert text.startswith(f"{key.kid}:")
    assert new_key() != text
    assert parse_key(new_key("2026-11")).kid == "2026-11"


@pytest.mark.parametrize(
    "text,says",
    [
        ("", "kid:base64"),
        ("nothing", "kid:base64"),
        (":" + base64.b64encode(b"x" * 32).decode(), "kid:base64"),
        ("a b:" + base64.b64encode(b"x" * 32).decode(), "kid:base64"),
        ("k:hush-hush", "not base64"),
        ("k:" + base64.b64encode(b"x" * 31).decode(), "31 bytes; at least 32"),
        ("k:" + base64.b64encode(b"x" * 2000).decode(), "2000 bytes"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_without_being_repeated(text, says):
    with pytest.raises(KeyInvalid, match=says) as caught:
        parse_key(text)
    assert "hush" not in str(caught.value)


def test_no_representation_shows_a_key():
    key = SigningKey("k1", b"hush" * 8)
    assert "hush" not in f"{key} {key!r} {KeyRing(key)!r}"


def test_a_ring_finds_the_current_and_the_previous_key():
    old, new = parse_key(new_key("old")), parse_key(new_key("new"))
    ring = KeyRing(new, [old])
    assert (ring.current, ring.find("new"), ring.find("old"), ring.find("other")) == (new, new, old, None)


def test_two_keys_of_one_name_are_refused():
    with pytest.raises(KeyInvalid, match="same kid"):
        KeyRing(parse_key(new_key("k")), [parse_key(new_key("k"))])


def test_a_missing_key_file_is_made_once_and_for_its_owner_only(tmp_path: Path):
    file = tmp_path / "milepost.db.key"
    key = load_or_make(file)
    assert load_or_make(file) == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_holds_no_key_is_named_and_left_alone(tmp_path: Path):
    file = tmp_path / "milepost.db.key"
    for held in (b"", b"\xff", b"k:hush"):
        file.write_bytes(held)
        with pytest.raises(KeyInvalid, match=r"milepost\.db\.key") as caught:
            load_or_make(file)
        assert "hush" not in str(caught.value)
        assert file.read_bytes() == held


def _kid(file: Path, gate, found) -> None:
    gate.wait()
    found.put(load_or_make(file).kid)


def test_processes_that_start_at_once_agree_on_one_key(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    gate, found = context.Barrier(4), context.SimpleQueue()
    processes = [context.Process(target=_kid, args=(tmp_path / "k", gate, found)) for _ in range(4)]
    for process in processes:
        process.start()
    kids = {found.get() for _ in processes}
    for process in processes:
        process.join()
    assert len(kids) == 1
