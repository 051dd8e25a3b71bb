"""`milepost keys`: signing keys."""

import click

from milepost.cli.commands import Group, json_option
from milepost.cli.endings import UsedWrongly
from milepost.cli.output import print_json
from milepost.tokens.keys import KeyInvalid, new_key, parse_key


@click.group(cls=Group, example="milepost keys new")
def keys() -> None:
    """Make signing keys."""


@keys.command(example="milepost keys new > /run/secrets/milepost-key")
@click.option("--kid", metavar="NAME", help="The key's name; random when left out.")
@json_option
def new(kid: str | None, as_json: bool) -> None:
    """Print a fresh random key for `keys.current`. Move the old one to `keys.previous` until its tokens expired."""
    text = new_key(kid)
    try:
        key = parse_key(text)
    except KeyInvalid as error:
        raise UsedWrongly(str(error)) from None
    if as_json:
        print_json({"kid": key.kid, "key": text})
    else:
        click.echo(text)
