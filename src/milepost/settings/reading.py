"""Reads settings: the defaults, then one file, then the environment. Everything is checked before anything starts."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import reduce
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from milepost.settings import tree
from milepost.settings.sections import Settings
from milepost.settings.values import Duration, Secret, Size, read_value

_PREFIX: Final = "MILEPOST_"
_MAX_FILE: Final = 1 << 20
_KINDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "datetime": "a date",
}


class SettingsError(Exception):
    """One line that says which setting is wrong, where it stands and why. Never its value."""


class Loaded(Struct, frozen=True):
    """The settings that hold, the file that was read (None: none) and where each changed key comes from."""

    settings: Settings
    file: Path | None
    origins: Mapping[tree.Path, str]


def default_text() -> str:
    """The documented default file."""
    return files("milepost.settings").joinpath("default.toml").read_text("utf-8")


def load(named: Path | None, environ: Mapping[str, str], directory: Path) -> Loaded:
    """The settings of this process; `named` is the file of `--settings`. Raises `SettingsError`."""
    table = tomllib.loads(default_text())
    origins: dict[tree.Path, str] = {}
    file = _file(named, environ, directory)
    for path, value, origin in (*_from_file(file), *_from_environment(environ)):
        tree.put(table, path, value)
        origins[path] = origin
    try:
        settings = msgspec.convert(table, Settings, dec_hook=read_value)
    except msgspec.ValidationError as error:
        raise SettingsError(_explain(str(error), origins)) from None
    return Loaded(settings, file, origins)


def _file(named: Path | None, environ: Mapping[str, str], directory: Path) -> Path | None:
    said = named or environ.get("MILEPOST_SETTINGS")
    if said:
        return directory / said
    usual = directory / "milepost.toml"
    return usual if usual.is_file() else None


def _from_file(file: Path | None) -> Iterator[tuple[tree.Path, Any, str]]:
    if file is None:
        return
    try:
        table = tomllib.loads(_text(file))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: {error}") from None
    for path, value in tree.leaves(table):
        wrong = tree.objection(path)
        if wrong:
            raise SettingsError(f"{file}: {wrong}")
        yield path, value, str(file)


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[tree.Path, Any, str]]:
    # Other names without a double underscore are not ours: clusters set MILEPOST_PORT and the like for a service.
    for name in sorted(name for name in environ if name.startswith(_PREFIX)):
        path = tuple(name.removeprefix(_PREFIX).lower().split("__"))
        if len(path) == 1 and path not in tree.KEYS:
            continue
        bare = (*path[:-1], path[-1].removesuffix("_file"))
        if path not in tree.KEYS and bare in tree.KEYS and tree.KEYS[bare].secret:
            if name.removesuffix("_FILE") in environ:
                raise SettingsError(f"environment: {name} and {name.removesuffix('_FILE')} are both set; keep one")
            yield bare, _text(Path(environ[name])).rstrip("\r\n"), name
            continue
        wrong = tree.objection(path)
        if wrong:
            raise SettingsError(f"environment: {name}: {wrong}")
        yield path, _value(tree.KEYS[path], environ[name], name), name


def _value(key: tree.Key, text: str, name: str) -> object:
    """What a text from the environment means: lists may be JSON or separated by commas."""
    if key.tables or (key.many and text.lstrip().startswith("[")):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            raise SettingsError(f"environment: {name}: expected a JSON list") from None
    if key.many:
        return [part.strip() for part in text.split(",") if part.strip()]
    return _scalar(key, text)


def _scalar(key: tree.Key, text: str) -> object:
    """The environment knows only text: what the default is of tells what is meant."""
    held: object = reduce(getattr, key.path, cast("Any", Settings()))
    if isinstance(held, Duration | Size | Secret):
        return text
    if isinstance(held, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text)
    if isinstance(held, int | float) or key.path == ("server", "metrics"):
        try:
            return float(text) if isinstance(held, float) else int(text)
        except ValueError:
            return text
    return text


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            held = opened.read(_MAX_FILE + 1)
        if len(held) > _MAX_FILE:
            raise SettingsError(f"{file}: larger than 1 MiB")
        return held.decode("utf-8")
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror or 'cannot be read'}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{file}: not UTF-8 text") from None


def _explain(message: str, origins: Mapping[tree.Path, str]) -> str:
    """The codec's complaint in plain words, with the place where the value stands."""
    said, _, where = message.partition(" - at `$")
    path = tuple(re.findall(r"[a-z_]+", where.split("[")[0]))
    plain = re.sub(r"`([a-z]+)`", lambda found: _KINDS.get(found[1], found[0]), said)
    plain = plain[:1].lower() + plain[1:]
    return f"{origins.get(path, 'settings')}: {'.'.join(path)}: {plain}"
