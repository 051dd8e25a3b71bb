"""What is wrong with a document: every finding with its line, its place and what to do, all of them at once."""

from collections.abc import Iterable
from difflib import get_close_matches

from milepost.definitions.source import Finding, Level, Source


class Notes:
    """Collects the findings about one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: list[Finding] = list(source.findings)

    def error(self, path: str, wrong: str, advice: str) -> None:
        """Something that keeps the document from being published."""
        self._add("error", path, wrong, advice)

    def warning(self, path: str, wrong: str, advice: str) -> None:
        """Something that is allowed and probably not meant."""
        self._add("warning", path, wrong, advice)

    def has_errors_below(self, path: str) -> bool:
        """Whether an error was found at this place or inside of it."""
        return any(
            one.level == "error" and (one.path == path or one.path.startswith(f"{path}/")) for one in self._found
        )

    def all(self) -> list[Finding]:
        """Every finding, by line."""
        return sorted(self._found, key=lambda one: (one.line, one.path, one.wrong))

    def _add(self, level: Level, path: str, wrong: str, advice: str) -> None:
        self._found.append(Finding(self._source.line_of(path), path, level, wrong, advice))


def meant(said: str, known: Iterable[str]) -> str:
    """What to do about a name nobody knows: the nearest known one, or all there are."""
    names = sorted(known)
    folded = {name.casefold(): name for name in names}
    near = get_close_matches(said.casefold(), folded, n=1, cutoff=0.6)
    if near:
        return f"did you mean {folded[near[0]]}?"
    return f"there are {', '.join(names)}" if names else "there are none"
