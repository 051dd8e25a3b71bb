"""Spells one JSON value in many ways."""

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

SAFE = 2**53 - 1
_characters = st.characters(exclude_categories=(), exclude_characters="\x00") | st.sampled_from('":\\/ \n\u2028')
texts = st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=8)
wild_texts = st.text(alphabet=_characters, max_size=8)
numbers = st.integers(-SAFE, SAFE) | st.floats(-1e15, 1e15, allow_nan=False)


def values(text: st.SearchStrategy[str] = texts) -> st.SearchStrategy[Any]:
    """JSON values with such texts."""
    leaves = st.none() | st.booleans() | numbers | text
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4))


def spelled(value: Any, chance: Random, doubled: tuple[Any, ...] | None = None) -> str:
    """One spelling. `doubled` is the path to an object of which one member is written twice."""
    gap = _gap(chance)
    if isinstance(value, dict):
        return "{" + gap + ("," + gap).join(_members(value, chance, doubled)) + gap + "}"
    if isinstance(value, list):
        items = [spelled(item, chance, _below(doubled, index)) for index, item in enumerate(value)]
        return "[" + gap + (gap + "," + gap).join(items) + gap + "]"
    if isinstance(value, str):
        return _text(value, chance)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return _number(value, chance)


def _gap(chance: Random) -> str:
    return chance.choice(["", "", " ", "\n", "\t \r"])


def _members(value: dict[str, Any], chance: Random, doubled: tuple[Any, ...] | None) -> list[str]:
    names = list(value)
    if doubled == ():
        names.append(chance.choice(names))
    chance.shuffle(names)
    return [
        _text(name, chance) + _gap(chance) + ":" + _gap(chance) + spelled(value[name], chance, _below(doubled, name))
        for name in names
    ]


def _below(doubled: tuple[Any, ...] | None, name: Any) -> tuple[Any, ...] | None:
    return doubled[1:] if doubled and doubled[0] == name and type(doubled[0]) is type(name) else None


def _text(value: str, chance: Random) -> str:
    return '"' + "".join(_character(one, chance) for one in value) + '"'


def _character(one: str, chance: Random) -> str:
    must = one in '"\\' or ord(one) < 32
    if one == "/" and chance.random() < 0.3:
        return "\\/"
    if not must and chance.random() < 0.7:
        return one
    units = one.encode("utf-16-be", "surrogatepass")
    style = chance.choice(["04x", "04X"])
    return "".join(f"\\u{int.from_bytes(units[at : at + 2], 'big'):{style}}" for at in range(0, len(units), 2))


def _number(value: float, chance: Random) -> str:
    if isinstance(value, float) and not value.is_integer():
        return repr(value)
    whole = int(value)
    return chance.choice([str(whole), f"{whole}.0", f"{whole}e0", f"{whole}.000E+00", f"{whole * 10}e-1"])
