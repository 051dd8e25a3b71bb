import tomllib
from pathlib import Path

from milepost.settings.reading import load
from milepost.settings.showing import plain, toml


def test_what_is_shown_can_be_read_again_and_holds_no_secret(tmp_path: Path):
    environ = {
        "MILEPOST_KEYS__CURRENT": "k1:hush",
        "MILEPOST_DATABASE__URL": "postgresql://me:hush@db/x",
        "MILEPOST_TARGETS": '[{"name": "a", "kind": "redis", "url": "redis://:hush@h", "secret": "hush"}]',
        "MILEPOST_WAKEUP__URL": "redis://u:hush@h",
    }
    loaded = load(None, environ, tmp_path)
    shown = toml(loaded)
    assert "hush" not in shown
    assert "hush" not in repr(loaded)
    assert tomllib.loads(shown) == plain(loaded.settings)
    assert 'current = "(hidden)"  # MILEPOST_KEYS__CURRENT' in shown


def test_a_value_that_was_not_changed_has_no_origin(tmp_path: Path):
    shown = toml(load(None, {"MILEPOST_SERVER__PORT": "1"}, tmp_path))
    assert "port = 1  # MILEPOST_SERVER__PORT" in shown
    assert 'host = "127.0.0.1"\n' in shown
