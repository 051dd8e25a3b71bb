"""Spells the keywords of JSON Schema: what is written wrong is ignored by every validator, so it is said here."""

from typing import Any, Final, cast

from milepost.definitions.findings import Notes, meant
from milepost.definitions.source import pointed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ONE: Final = _words(
    "additionalProperties propertyNames items contains unevaluatedItems unevaluatedProperties not if then else"
)
_MANY: Final = _words("allOf anyOf oneOf prefixItems")
_NAMED: Final = _words("properties patternProperties dependentSchemas $defs")
_OTHER: Final = _words(
    "$schema $ref $comment title description default deprecated readOnly writeOnly examples type enum const multipleOf "
    "maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems "
    "maxContains minContains maxProperties minProperties required dependentRequired format contentEncoding "
    "contentMediaType contentSchema"
)
_KNOWN: Final = _ONE | _MANY | _NAMED | _OTHER
_FORMATS: Final = _words(
    "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference "
    "uuid uri-template json-pointer relative-json-pointer regex"
)


def check_keywords(notes: Notes, path: str, schema: Any) -> None:
    """Warns of keywords and formats that nobody judges by; those of one's own begin with `x-`."""
    if not isinstance(schema, dict):
        return
    for name, item in cast("dict[str, Any]", schema).items():
        place = path + pointed(name)
        if name in _ONE:
            check_keywords(notes, place, item)
        elif name in _MANY and isinstance(item, list):
            for index, each in enumerate(cast("list[Any]", item)):
                check_keywords(notes, f"{place}/{index}", each)
        elif name in _NAMED and isinstance(item, dict):
            for key, each in cast("dict[str, Any]", item).items():
                check_keywords(notes, place + pointed(key), each)
        elif name not in _KNOWN and not name.startswith("x-"):
            notes.warning(place, f"JSON Schema has no keyword {name}: it is ignored", meant(name, _KNOWN))
        elif name == "format" and isinstance(item, str) and item not in _FORMATS:
            notes.warning(place, f"there is no format {item}: it is ignored", meant(item, _FORMATS))
