"""`milepost definitions`: task types as documents, checked and compared here, published and listed over HTTP."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from milepost.cli.caller import Caller, caller_options, problem
from milepost.cli.commands import Group, json_option
from milepost.cli.endings import Ending, FoundWanting, UsedWrongly
from milepost.cli.output import print_json, print_table, printable

if TYPE_CHECKING:
    from milepost.definitions.comparing import Comparison
    from milepost.definitions.documents import Document
    from milepost.definitions.source import Finding, Source

ROUTE: Final = "/internal/v1/definitions"
_NAMES: Final = (".yaml", ".yml", ".json")
_paths = click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group(cls=Group, example="milepost definitions check definitions/")
def definitions() -> None:
    """Check, compare, publish and list the definitions of task types."""


@definitions.command(example="milepost definitions check definitions/document.yaml")
@_paths
@json_option
def check(paths: tuple[Path, ...], as_json: bool) -> None:
    """Say everything that is wrong with documents, with the line. Needs no service. Exit 1 if something is."""
    found = [(file, _checked(file)[1]) for file in _files(paths)]
    errors = _count(found, "error")
    if as_json:
        print_json([{"file": str(file), **_plain(one)} for file, findings in found for one in findings])
    else:
        _print_findings(found)
    if errors:
        raise FoundWanting(f"{errors} {'error' if errors == 1 else 'errors'} in {_files_with_errors(found)}")
    if not as_json:
        click.echo(f"{len(found)} {'document' if len(found) == 1 else 'documents'}: nothing is wrong")


@definitions.command(example="milepost definitions diff document.v1.yaml document.v2.yaml")
@click.argument("older", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("newer", metavar="NEW", type=click.Path(path_type=Path))
@json_option
def diff(older: Path, newer: Path, as_json: bool) -> None:
    """Say what changed, whether it is compatible, and what needs a new version and why. Exit 1 if it lacks one."""
    from milepost.definitions.comparing import compared

    comparison = compared(_document(older), _document(newer))
    if as_json:
        print_json({**_plain(comparison), "raised": comparison.raised})
    else:
        _print_comparison(comparison)
    if comparison.obstacles:
        raise FoundWanting("; ".join(comparison.obstacles))


@definitions.command(example="milepost definitions apply definitions/document.yaml")
@_paths
@caller_options
@json_option
def apply(paths: tuple[Path, ...], url: str, token: str | None, tenant: str | None, as_json: bool) -> None:
    """Check documents and publish them; what is published already stays as it is."""
    caller = Caller(url, token, tenant)
    found = [(file, *_checked(file)) for file in _files(paths)]
    faulty = [(file, findings) for file, _, findings in found]
    if _count(faulty, "error"):
        _print_findings(faulty)
        raise FoundWanting(f"nothing was published: there are errors in {_files_with_errors(faulty)}")
    answers: list[Any] = []
    for file, source, findings in found:
        reply = caller.put(ROUTE, source.value)
        if not reply.is_success:
            raise _refused(file, source, reply)
        answers.append(reply.json())
        if not as_json:
            _print_findings([(file, findings)])
            _print_published(reply.json(), new=reply.status_code == 201)
    if as_json:
        print_json(answers)


@definitions.command("list", example="milepost definitions list")
@click.option("--type", "task_type", metavar="TYPE", help="Only this task type.")
@caller_options
@json_option
def list_(task_type: str | None, url: str, token: str | None, tenant: str | None, as_json: bool) -> None:
    """List every published version the tenant may use."""
    items = Caller(url, token, tenant).get(ROUTE, {})["items"]
    kept = [item for item in items if task_type in (None, item["taskType"])]
    if as_json:
        print_json({"items": kept})
    else:
        print_table(_LIST, [_row(item) for item in kept])


@definitions.command(example="milepost definitions export DOCUMENT_PROCESS > document.yaml")
@click.argument("task_type", metavar="TYPE")
@click.option("--version", type=click.IntRange(1), metavar="N", help="This version; else the newest.")
@click.option("--product", metavar="ID", help="The one of this product.")
@click.option("--form", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True, help="How to write it.")
@caller_options
def export(
    *,
    task_type: str,
    version: int | None,
    product: str | None,
    form: str,
    url: str,
    token: str | None,
    tenant: str | None,
) -> None:
    """Print a published document as it was applied."""
    query = {"taskType": task_type, "version": version, "product": product}
    asked = {name: str(value) for name, value in query.items() if value is not None}
    items = Caller(url, token, tenant).get(ROUTE, asked)["items"]
    if not items:
        raise FoundWanting(f"no such definition of {task_type} is published")
    newest = max(items, key=lambda item: (item["version"], item["tenantId"] or "", item["product"] or ""))
    click.echo(_written(newest["document"], form), nl=False)


def _written(document: Any, form: str) -> str:
    if form == "json":
        import json

        return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def _files(paths: Iterable[Path]) -> list[Path]:
    """The documents that are meant: a folder stands for all that lie in it."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(file for file in path.iterdir() if file.suffix in _NAMES and file.is_file())
        else:
            files.append(path)
    if not files:
        raise UsedWrongly(f"no document here: expected files that end with {', '.join(_NAMES)}")
    return files


def _checked(file: Path) -> "tuple[Source, list[Finding]]":
    from milepost.definitions.checking import check as findings_of
    from milepost.definitions.reading import LIMIT, read

    try:
        with file.open("rb") as opened:
            text = opened.read(LIMIT + 1)
    except OSError as error:
        raise UsedWrongly(f"{file}: {error.strerror}") from None
    source = read(text)
    return source, findings_of(source)


def _document(file: Path) -> "Document":
    from milepost.definitions.documents import document_of

    source, findings = _checked(file)
    if any(finding.level == "error" for finding in findings):
        _print_findings([(file, findings)])
        raise FoundWanting(f"there are errors in {file}: `milepost definitions check` says what to do")
    return document_of(source)


def _count(found: "Sequence[tuple[Path, Sequence[Finding]]]", level: str) -> int:
    return sum(finding.level == level for _, findings in found for finding in findings)


def _files_with_errors(found: "Sequence[tuple[Path, Sequence[Finding]]]") -> str:
    return ", ".join(str(file) for file, findings in found if any(one.level == "error" for one in findings))


def _print_findings(found: "Sequence[tuple[Path, Sequence[Finding]]]") -> None:
    for file, findings in found:
        for one in findings:
            place = f" {one.path}" if one.path else ""
            click.echo(printable(f"{file}:{one.line}: {one.level}:{place} {one.wrong}; {one.advice}"))


def _print_comparison(comparison: "Comparison") -> None:
    for change in comparison.changes:
        if change.needs is None:
            click.echo(printable(f"compatible   {change.path}: {change.what}"))
        else:
            whose = "document" if change.needs == "document" else change.needs
            said = f"new version  {change.path}: {change.what}; {whose} needs a new version: {change.because}"
            click.echo(printable(said))
    raised = f"raised from {comparison.older} to {comparison.newer}" if comparison.raised else "not raised"
    click.echo(f"{len(comparison.changes)} {'change' if len(comparison.changes) == 1 else 'changes'}; version {raised}")


def _print_published(answer: Any, *, new: bool) -> None:
    told = answer["published"]
    product = f" of {told['product']}" if told["product"] else ""
    how = "published" if new else "was published already"
    click.echo(printable(f"{told['taskType']}{product} version {told['version']} {how}"))
    for change in answer["changes"]:
        click.echo(printable(f"  {change['path']}: {change['what']}"))


def _refused(file: Path, source: "Source", reply: Any) -> Ending:
    body: Any = reply.json() if reply.headers.get("content-type", "").startswith("application/problem") else {}
    for error in body.get("errors", ()):
        click.echo(printable(f"{file}:{source.line_of(error['pointer'])}: error: {error['pointer']} {error['detail']}"))
    return FoundWanting(f"{file}: {problem(reply)}")


_LIST: Final = ("TYPE", "PRODUCT", "VERSION", "ENABLED", "TENANT", "BY", "PUBLISHED", "ID")


def _row(item: Any) -> tuple[object, ...]:
    return (
        item["taskType"],
        item["product"],
        item["version"],
        "yes" if item["enabled"] else "no",
        item["tenantId"] or "(default)",
        item["publishedBy"],
        item["publishedAt"],
        item["definitionId"],
    )


def _plain(value: Any) -> dict[str, Any]:
    import msgspec

    return msgspec.to_builtins(value)
