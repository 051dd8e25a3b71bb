import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from milepost.bootstrap.refusals import Misconfigured, NotAvailable
from milepost.bootstrap.signing import open_ring
from milepost.settings.sections import Database, Keys, Settings
from milepost.settings.values import Address, Secret
from milepost.tokens.keys import new_key, parse_key


def settings(url: str, current: str = "", previous: str = "") -> Settings:
    return Settings(database=Database(url=Address(url)), keys=Keys(Secret(current), Secret(previous)))


def test_an_embedded_database_keeps_a_key_beside_it_for_its_owner_only(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'my.db'}"
    ring = open_ring(settings(url))
    assert open_ring(settings(url)).current == ring.current
    assert stat.S_IMODE((tmp_path / "my.db.key").stat().st_mode) == 0o600


def test_keys_that_are_set_are_used_and_nothing_is_kept(tmp_path: Path):
    old, new = new_key("old"), new_key("new")
    ring = open_ring(settings(f"sqlite:///{tmp_path / 'my.db'}", new, old))
    assert (ring.current, ring.find("old")) == (parse_key(new), parse_key(old))
    assert list(tmp_path.iterdir()) == []


def test_moving_on_from_a_kept_key_keeps_its_tokens_good(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'my.db'}"
    kept = open_ring(settings(url)).current
    before = (tmp_path / "my.db.key").read_text().strip()
    ring = open_ring(settings(url, new_key("new"), before))
    assert (ring.current.kid, ring.find(kept.kid)) == ("new", kept)


@pytest.mark.parametrize("url", ["postgresql://h/d", "mysql://h/d", "mariadb://h/d"])
def test_there_is_no_default_key_on_a_server_database(url):
    with pytest.raises(Misconfigured, match=r"keys\.current: no signing key is set"):
        open_ring(settings(url))
    assert open_ring(settings(url, new_key("k"))).current.kid == "k"


def test_two_keys_of_one_name_stop_the_start():
    with pytest.raises(Misconfigured, match="same kid"):
        open_ring(settings("postgresql://h/d", new_key("k"), new_key("k")))


def test_a_place_where_no_key_can_be_kept_stops_the_start(tmp_path: Path):
    with pytest.raises(NotAvailable, match="No such file"):
        open_ring(settings(f"sqlite:///{tmp_path / 'gone' / 'my.db'}"))


def test_no_message_shows_a_key():
    bad = replace(settings("postgresql://h/d"), keys=Keys(Secret("k:hush-hush-hush")))
    with pytest.raises(Misconfigured) as caught:
        open_ring(bad)
    assert "hush" not in str(caught.value)
