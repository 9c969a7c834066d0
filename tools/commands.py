"""The commands of `zib`, made from the tools' definitions, and a few for the owner alone.

Other rooms add theirs by the entry-point group `zibaldone.commands`: functions as typer takes them.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..vault.errors import InvalidArgument, NoteExists
from .answers import IndexState
from .definition import TOOLS, Argument, Tool
from .render import STYLES, Piece, counted, harmless, pieces
from .shell import caller_of
from .tool import KEPT_WORDS
from .wire import wire

if TYPE_CHECKING:
    from rich.progress import Progress

    from .vault import Vault

COMMANDS_GROUP = "zibaldone.commands"

VaultOption = Annotated[
    str | None,
    typer.Option(
        "--vault",
        metavar="FOLDER",
        help="The vault; else ZIBALDONE_VAULT, else the nearest above this folder.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer with JSON, for programs.")]


class Commands(TyperGroup):
    """The commands made here, and those of other rooms, which are loaded when they are needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        own = super().list_commands(ctx)
        return [*own, *sorted(point.name for point in entry_points(group=COMMANDS_GROUP))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, if there is one."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        for point in entry_points(group=COMMANDS_GROUP, name=cmd_name):
            single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            single.command(cmd_name)(point.load())
            return typer.main.get_command(single)
        return None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="The memory that AI agents keep about you and your projects, as Markdown notes.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"zibaldone {version('zibaldone')}\n")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Tell the version."),
    ] = False,
) -> None:
    pass


# Tools as commands


def command(tool: Tool) -> Callable[..., None]:
    """Return a tool as a function that typer makes a command of."""

    def run(**given: Any) -> None:
        folder, as_json = given.pop("vault_folder"), given.pop("as_json")
        arguments = {one.wire: _taken(one, given[one.name]) for one in tool.arguments}
        with opened(folder) as vault:
            answer = tool.run(vault, arguments)
        show(answer, as_json=as_json)

    run.__name__ = run.__qualname__ = tool.name
    run.__doc__ = _literal(tool.description)
    parameters = [_parameter(one, subject=one == tool.subject) for one in tool.arguments]
    for name, annotation, default in (
        ("vault_folder", VaultOption, None),
        ("as_json", JsonOption, False),
    ):
        parameters.append(_keyword(name, annotation, default))
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def option_names(argument: Argument) -> tuple[str, ...]:
    """Return how an argument is called on the command line; a list also by its singular."""
    name = KEPT_WORDS.get(argument.name) or argument.name.replace("_", "-")
    singular = argument.kind == "array" and name.endswith("s")
    return (f"--{name[:-1]}", f"--{name}") if singular else (f"--{name}",)


def _parameter(argument: Argument, *, subject: bool) -> inspect.Parameter:
    types: dict[str, Any] = {
        "string": str,
        "integer": int,
        "boolean": bool,
        "array": list[str],
        "object": list[str],
    }
    kind, text = types[argument.kind], _help(argument)
    info: Any
    if subject:
        info = typer.Argument(metavar=argument.name.upper(), help=text, show_default=False)
    else:
        metavar = {"integer": "N", "boolean": None}.get(argument.kind, "TEXT")
        info = typer.Option(*option_names(argument), metavar=metavar, help=text, show_default=False)
    if argument.required:
        return _keyword(argument.name, Annotated[kind, info], inspect.Parameter.empty)
    return _keyword(argument.name, Annotated[kind | None, info], None)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _help(argument: Argument) -> str:
    notes = []
    if argument.choices:
        notes.append(f"one of {', '.join(argument.choices)}")
    if argument.long:
        notes.append("- reads it from stdin")
    if argument.kind == "array":
        notes.append("repeat it, or separate with commas")
    if argument.kind == "object":
        notes.append("name=value; repeat it, or separate with commas")
    if argument.bounds:
        notes.append(argument.bounds)
    if argument.default and not argument.required:
        notes.append(f"default {argument.default}")
    described = f"{argument.description} ({'; '.join(notes)})" if notes else argument.description
    return _literal(described)


def _literal(text: str) -> str:
    """Keep rich from reading square brackets as its markup."""
    return text.replace("[", r"\[")


def _taken(argument: Argument, value: Any) -> Any:
    if argument.long and value == "-":
        return _stdin(argument)
    if argument.kind == "array":
        return list(_split(value))
    if argument.kind == "object" and value is not None:
        return dict(map(partial(_named_value, argument), _split(value)))
    return value


def _split(texts: Iterable[str] | None) -> Iterator[str]:
    return (part.strip() for text in texts or () for part in text.split(",") if part.strip())


def _named_value(argument: Argument, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidArgument(argument.wire, f"{text!r} is not name=value")
    return name.strip(), value.strip()


def _stdin(argument: Argument) -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} of what stdin gave is not UTF-8"
        raise InvalidArgument(argument.wire, problem) from error


for _tool in TOOLS:
    app.command(_tool.name.replace("_", "-"), short_help=_literal(_tool.short))(command(_tool))


# Commands of the owner


@app.command()
def init(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="The folder that holds the notes, or will.")
    ] = ".",
) -> None:
    """Make a folder of notes a vault: write zibaldone.toml, and say how agents get to it."""
    from ..vault.layout import open_layout
    from ..vault.settings import SETTINGS_FILE
    from ..vault.store import Store
    from .setup import SETTINGS, next_steps

    if not Path(folder).expanduser().is_dir():
        raise InvalidArgument("FOLDER", f"there is no folder {folder}; make it first")
    layout = open_layout(folder)
    try:
        Store(layout).write(SETTINGS_FILE, SETTINGS.encode(), expected=None)
        said = f"Wrote {layout.root / SETTINGS_FILE}, in which every setting is explained.\n\n"
    except NoteExists:
        said = f"{layout.root} is a vault already; nothing was changed.\n\n"
    write([(said, "good"), (next_steps(layout.root), "text")])


@app.command()
def index(
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Drop the index and build it anew from the notes.")
    ] = False,
    vault_folder: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the index up to date with the notes on disk."""
    with opened(vault_folder) as vault:
        now = vault.index.refresh(rebuild=rebuild)
    state = IndexState(now.behind == 0, now.notes, now.behind, now.notice or None)
    if as_json:
        write_json(wire(state))
        return
    write([(f"{counted(state.notes, 'note')} indexed, {state.behind} to do.\n", "good")])
    if state.note:
        write([(f"{state.note}\n", "warning")])


@app.command(
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    }
)
def mcp(ctx: typer.Context) -> None:
    """Serve the tools to an agent over stdin and stdout (see `zib mcp --help`)."""
    from .serve import main

    main(ctx.args)


# The vault, progress and output


@contextmanager
def opened(folder: str | None) -> Iterator[Vault]:
    """Open the vault for who runs this shell; a long build of the index shows its progress."""
    from .vault import Vault

    with Vault.open(folder, caller=caller_of(os.environ)) as vault, ProgressBar() as bar:
        vault.index.progress = bar.show
        yield vault


class ProgressBar:
    """A bar on stderr that appears with the first progress; none when stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Progress | None = None

    def show(self, done: int, total: int) -> None:
        """Show that `done` of `total` notes are indexed."""
        if not sys.stderr.isatty():
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.add_task("Indexing notes", total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def show(answer: object, *, as_json: bool) -> None:
    """Write an answer to stdout, for programs or for people."""
    if as_json:
        write_json(wire(answer))
    else:
        write(pieces(answer))


def write_json(data: object) -> None:
    """Write JSON to stdout."""
    # Where the terminal is not UTF-8, JSON's own escapes carry every character.
    escape = sys.stdout.encoding.lower().replace("-", "") != "utf8"
    sys.stdout.write(f"{json.dumps(data, ensure_ascii=escape, indent=2)}\n")


def write(parts: Iterable[Piece]) -> None:
    """Write text to stdout, in colours when that is a terminal."""
    clean = [(harmless(text), STYLES[role]) for text, role in parts]
    if not sys.stdout.isatty():
        text = "".join(text for text, _ in clean)
        encoding = sys.stdout.encoding
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        return
    from rich.console import Console
    from rich.text import Text

    Console().print(Text.assemble(*clean), end="", soft_wrap=True)
