"""The keys that sign execution tokens: from the settings, or kept beside an embedded database."""

from pathlib import Path

from milepost.bootstrap.databases import embedded_file
from milepost.bootstrap.refusals import Misconfigured, NotAvailable
from milepost.settings.sections import Settings
from milepost.tokens.keys import KeyInvalid, KeyRing, SigningKey, load_or_make, parse_key


def key_file(database: Path) -> Path:
    """Where the key of an embedded database is kept when the settings name none."""
    return database.with_name(f"{database.name}.key")


def open_ring(settings: Settings) -> KeyRing:
    """The keys of this service. Raises `CannotStart`: there is no default key."""
    said = settings.keys
    try:
        previous = [parse_key(said.previous.reveal())] if said.previous else []
        current = parse_key(said.current.reveal()) if said.current else _kept(settings)
        return KeyRing(current, previous)
    except KeyInvalid as error:
        raise Misconfigured(f"keys: {error}") from None


def _kept(settings: Settings) -> SigningKey:
    database = embedded_file(settings)
    if database is None:
        raise Misconfigured("keys.current: no signing key is set; `milepost keys new` prints one")
    file = key_file(database)
    try:
        return load_or_make(file)
    except OSError as error:
        raise NotAvailable(f"keys: {file}: {error.strerror}") from None
