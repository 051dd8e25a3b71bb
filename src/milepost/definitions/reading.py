"""Reads a document's text, YAML or JSON, into plain values, with the line of every place.

YAML is read by the rules of its version 1.2 core schema, of which JSON is a part: `NO` and `on` are texts, `12:30` is
no number. Anchors, tags and merge keys are not taken: one place in the file is one place in the document.
"""

import json
import re
from typing import Any, Final

import yaml

from milepost.definitions.source import Finding, Source, pointed

LIMIT: Final = 256 * 1024
"""The largest document, in bytes."""

DEPTH: Final = 32
_SAFE: Final = 2**53 - 1


def read(text: bytes) -> Source:
    """A document in YAML or JSON. What cannot be read at all is a finding, and its value None."""

    def unread(line: int, wrong: str, advice: str) -> Source:
        return Source(None, {"": line}, (Finding(line, "", "error", wrong, advice),))

    if len(text) > LIMIT:
        return unread(1, f"the document is larger than {LIMIT // 1024} KiB", "split it into several task types")
    try:
        plain = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return unread(text.count(b"\n", 0, error.start) + 1, "the text is not UTF-8", "save the file as UTF-8")
    try:
        return _composed(plain)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join((error.problem or "it cannot be read").split())
        return unread(mark.line + 1 if mark else 1, f"this is neither YAML nor JSON: {said}", "correct the text")
    except (yaml.YAMLError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        return unread(1, f"this is neither YAML nor JSON: {said}", "correct the text")
    except json.JSONDecodeError as error:
        return unread(error.lineno, f"this is not valid JSON: {error.msg}", "correct the text")


def _composed(text: str) -> Source:
    if text.lstrip()[:1] in ("{", "["):
        json.loads(text)  # strict about JSON, before YAML is lenient about it
        # JSON may be indented by tabs, which YAML does not take; inside of its texts there can be none.
        text = text.replace("\t", " ")
    reader: Any = _Loader(text)
    node: yaml.Node | None = reader.get_single_node()
    walk = _Walk()
    value = walk.value(node, "", 0) if node is not None else None
    return Source(value, walk.lines, tuple(walk.findings))


class _Walk:
    """Turns nodes into values and notes their lines."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.findings: list[Finding] = []
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, path: str, depth: int) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if id(node) in self._seen:
            return self._bad(path, "an anchor is used again here", "write the value out")
        self._seen.add(id(node))
        if depth > DEPTH:
            return self._bad(path, f"nested deeper than {DEPTH} levels", "flatten it")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            self._plain_tag(node, path, "tag:yaml.org,2002:seq")
            return [self.value(item, f"{path}/{index}", depth + 1) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Any]:
        self._plain_tag(node, path, "tag:yaml.org,2002:map")
        found: dict[str, Any] = {}
        for key, item in node.value:
            name = str(key.value)
            place = path + pointed(name)
            if name in found:
                self._bad(place, f"the key {name} stands twice", "keep one", key.start_mark.line + 1)
                continue
            self.lines[place] = key.start_mark.line + 1
            found[name] = self.value(item, place, depth + 1)
        return found

    def _scalar(self, node: yaml.Node, path: str) -> Any:
        text: str = node.value
        kind = node.tag.rpartition(":")[2]
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            return self._whole(int(text, 0) if text.lower().startswith(("0x", "0o")) else int(text), path)
        if kind == "float":
            return self._real(text, path)
        if kind != "str":
            return self._bad(path, f"the tag {node.tag} is not taken", "leave it out")
        # Two halves of one character, as JSON may write them, become that character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "\ufffd")

    def _whole(self, number: int, path: str) -> int | None:
        return number if abs(number) <= _SAFE else self._bad(path, "this number is too large", "use a smaller one")

    def _real(self, text: str, path: str) -> int | float | None:
        if text.lower().lstrip("+-").startswith(".") and text[-1].isalpha():
            return self._bad(path, "a number must be finite", "use a finite one")
        number = float(text)
        if number in (float("inf"), float("-inf")):
            return self._bad(path, "a number must be finite", "use a finite one")
        return int(number) if number.is_integer() and abs(number) <= _SAFE else number

    def _plain_tag(self, node: yaml.Node, path: str, tag: str) -> None:
        if node.tag != tag:
            self._bad(path, f"the tag {node.tag} is not taken", "leave it out")

    def _bad(self, path: str, wrong: str, advice: str, line: int | None = None) -> None:
        self.findings.append(Finding(line or self.lines.get(path, 1), path, "error", wrong, advice))


_CORE: Final = (
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN"),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^(?:[-+]?[0-9]{1,20}|0o[0-7]{1,20}|0x[0-9a-fA-F]{1,20})$", "-+0123456789"),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,5})?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+.0123456789",
    ),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """What a plain scalar may be, by its first character."""
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = {"": [("tag:yaml.org,2002:null", re.compile("^$"))]}
    for name, pattern, first in _CORE:
        for character in first:
            found.setdefault(character, []).append((f"tag:yaml.org,2002:{name}", re.compile(pattern)))
    return found


class _Loader(yaml.SafeLoader):
    """Takes scalars by the core schema instead of YAML 1.1's habits."""


_Loader.yaml_implicit_resolvers = _resolvers()
