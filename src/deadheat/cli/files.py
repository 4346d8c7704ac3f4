"""Types of arguments and options: numbers, files that are read, and files that are written without losing others.

An output replaces no file and is not written into a folder that is read, unless `--force` allows it. `Command` checks
that before it runs, for all parameters that are an `Output`; the other parameters that are a `FileArgument` are inputs.
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from deadheat.cli.shell import STDIN, STDOUT, Verbosity, check_output, flags_of, note
from deadheat.inputs.files import held
from deadheat.support import checks
from deadheat.support.arguments import spelled


class FileArgument(click.Path):
    """A file or a folder that is read; with `alone`, "-" is standard input, and text without commas has that ending."""

    def __init__(self, alone: str = "") -> None:
        super().__init__(path_type=Path)
        self.alone = alone

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "\0" in os.fspath(value):
            _refuse("must be a path without a NUL character", value, param, ctx)
        if os.fspath(value) == "-" and not self.alone:
            _refuse("must be a file, as standard input is read for runs and tables of text alone", value, param, ctx)
        return super().convert(value, param, ctx)


class Choices(click.Choice):  # type: ignore[type-arg]
    """Values that the help lists and the shell completes; the library knows other names of some and refuses the rest.

    With `listed`, several may stand in one word, with commas between them.
    """

    def __init__(self, choices: Iterable[str], *, listed: bool = False) -> None:
        super().__init__(list(choices))
        self.listed = listed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        head, comma, last = incomplete.rpartition(",") if self.listed else ("", "", incomplete)
        return [CompletionItem(head + comma + choice) for choice in self.choices if choice.startswith(last)]


class Whole(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """An integer in plain digits, within a range if one is given; the library checks other limits."""

    name = "integer"

    def __init__(self, least: float = -math.inf, most: float = math.inf) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        result = int(value) if re.fullmatch(r"[+-]?[0-9]{1,4000}", str(value)) else None
        if result is None or not self.least <= result <= self.most:
            least = f" of at least {self.least}" if self.least > -math.inf else ""
            allowed = least if self.most == math.inf else f" from {self.least} to {self.most}"
            return _refuse(f"must be an integer{allowed}", value if result is None else result, param, ctx)
        return result


class Real(click.ParamType):  # type: ignore[type-arg]
    """A finite number as Python writes one, without underscores."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        with suppress(ValueError):
            result = float(value if str(value).isascii() and "_" not in str(value) else "")
            if math.isfinite(result):
                return result
        return _refuse("must be a finite number", value, param, ctx)


class ColumnOfRole(click.ParamType):  # type: ignore[type-arg]
    """A role and its column, as in query=id: a name, or its place from 0."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str | int]:
        role, equals, column = str(value).partition("=")
        if not equals:
            return _refuse("must be a role and its column, such as query=id", value, param, ctx)
        return role, int(column) if re.fullmatch("[0-9]{1,9}", column) else column


def as_dict(ctx: click.Context, param: click.Parameter, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
    """Return the pairs of an option that was repeated; None for none."""
    result = dict(pairs)
    if len(result) < len(pairs):
        _refuse("must be given once for each role", pairs[-1][0], param, ctx)
    return result or None


PATH, LINES, FILE = FileArgument(".csv"), FileArgument(".txt"), FileArgument()  # FILE is no text
INTEGER, REAL, COLUMN = Whole(), Real(), ColumnOfRole()
SEED, THREADS = Whole(0), Whole(1, checks.MOST_THREADS)


def _refuse(rule: str, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
    name = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx) if param and ctx else "it"
    raise click.UsageError(f"{name} {rule}, but is {checks.shown(value)}", ctx)


class Output(FileArgument):
    """A file to write; if it is text, also standard output, by any name."""

    def __init__(self, *, is_text: bool = False) -> None:
        super().__init__()
        self.is_text = is_text

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if os.fspath(value) == "-":
            return STDOUT if self.is_text else _refuse("must name a file, as only text is printed", value, param, ctx)
        path = super().convert(value, param, ctx)
        if self.is_text:
            with suppress(OSError, AttributeError, ValueError):  # not there, or standard output is no file
                return STDOUT if os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno())) else path
        return path


GROUPS = ("Input", "TREC run", "Ranking", "Measure", "Statistics", "Output", "Run")  # of options


class Option(click.Option):
    """An option that the help shows in one of the groups, and that `needs` another one, by its name."""

    def __init__(self, *args: Any, group: str, needs: str = "", **settings: Any) -> None:
        settings.setdefault("show_default", settings.get("default") not in (None, ""))
        super().__init__(*args, **settings)
        self.group, self.needs = group, needs


def option(group: str, *names: str, **settings: Any) -> Any:
    """Return `click.option` in a group of the help."""
    return click.option(*names, cls=Option, group=group, **settings)


class Command(click.Command):
    """A command with --quiet and --verbose whose outputs are checked before it runs.

    Its help begins with an example, and has groups of options.
    """

    def __init__(self, *args: Any, example: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.example = example
        if any(isinstance(param.type, Output) for param in self.params):
            self.params.append(_flag("--force", "any_output", text="Overwrite files that are there."))
        short = [] if any("-q" in param.opts for param in self.params) else ["-q"]  # trec_eval's
        self.params += [
            _flag(*short, "--quiet", text="Print no progress bar, notes or warnings; only results and errors."),
            _flag("-v", "--verbose", text="Print what is read and how long it takes to standard error."),
        ]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"  $ deadheat {self.example}\n\n")
        super().format_usage(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        for group in GROUPS:
            of_group = [each.get_help_record(ctx) for each in options if getattr(each, "group", "Run") == group]
            rows = [row for row in of_group if row is not None]
            if rows:
                with formatter.section(f"{group} options"):
                    formatter.write_dl(rows)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with spelled(flags_of(self)):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with spelled(flags_of(self)):
            return self._checked_and_run(ctx)

    def _checked_and_run(self, ctx: click.Context) -> Any:
        force, quiet, verbose = (ctx.params.pop(name, False) for name in ("any_output", "quiet", "verbose"))
        Verbosity.level = -1 if quiet else int(verbose)
        self._require_needed(ctx)
        self._read_standard_input(ctx)
        paths = list(self._paths(ctx))
        outputs = [path for source, path in paths if isinstance(source, Output)]
        inputs = [path for source, path in paths if not isinstance(source, Output)]
        _check_places(outputs)
        for path in outputs:
            if path != STDOUT:
                check_output(path)
                if not force:
                    _check_loss(path, inputs)
        start = time.perf_counter()
        status = super().invoke(ctx)
        note(f"{ctx.command_path}: {time.perf_counter() - start:.2f} s", level=1)
        return status

    def _require_needed(self, ctx: click.Context) -> None:
        for param in self.params:
            is_given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
            if isinstance(param, Option) and param.needs and is_given and not ctx.params[param.needs]:
                flag = next(max(other.opts, key=len) for other in self.params if other.name == param.needs)
                raise click.UsageError(f"{param.opts[0]} goes with {flag}")

    def _read_standard_input(self, ctx: click.Context) -> None:
        """Replace "-" by a path that stands for the text of standard input."""
        places = [
            (param.name or "", param.type, index)
            for param in self.params
            if isinstance(param.type, FileArgument) and param.type.alone
            for index, path in enumerate(_each(ctx.params.get(param.name or "")))
            if path == STDIN
        ]
        if len(places) > 1:
            raise click.UsageError("standard input (-) can be read only once", ctx)
        if places and (ctx.params.get("public") or ctx.params.get("untrusted")):
            raise click.UsageError("standard input (-) is not read here, as each FILE has a process of its own", ctx)
        for name, source, index in places:
            path, value = ctx.with_resource(_standard_input(source.alone)), ctx.params[name]
            ctx.params[name] = (*value[:index], path, *value[index + 1 :]) if isinstance(value, tuple) else path

    def _paths(self, ctx: click.Context) -> Iterator[tuple[FileArgument, Path]]:
        for param in self.params:
            if isinstance(param.type, FileArgument):
                for path in _each(ctx.params.get(param.name or "")):
                    yield param.type, path


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def command(
    example: str, *params: Decorator | Sequence[Decorator], **settings: Any
) -> Callable[[Callable[..., Any]], Command]:
    """Make a function the command of an example's first word, with these arguments and options, in this order."""

    def make(function: Callable[..., Any]) -> Command:
        for param in reversed([each for entry in params for each in ([entry] if callable(entry) else entry)]):
            function = param(function)
        made: Command = click.command(example.split()[0], cls=Command, example=example, **settings)(function)
        return made

    return make


def _flag(*names: str, text: str) -> Option:
    return Option(names, is_flag=True, group="Run", help=text)


def _each(value: Any) -> tuple[Path, ...]:
    """Return the paths of a parameter that can have one or several."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


@contextmanager
def _standard_input(alone: str) -> Iterator[Path]:
    """Yield a path that stands for the text of standard input, with the ending of a table of its kind.

    The ending is that of the separator in its first line, or `alone` if that has neither commas nor tabs.
    """
    if sys.stdin is None:
        raise click.ClickException("cannot read standard input: it is closed")
    content = sys.stdin.buffer.read()
    line = content.partition(b"\n")[0]
    path = Path("/dev", "stdin" + (".tsv" if b"\t" in line else ".csv" if b"," in line else alone))
    with held(path, content):
        yield path


def _check_places(paths: Sequence[Path]) -> None:
    """Refuse to write two results to one place."""
    places = [path if path == STDOUT else os.path.realpath(path) for path in paths]
    twice = next((path for path, place in zip(paths, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        where = "standard output" if twice == STDOUT else str(twice)
        raise click.UsageError(f"two results cannot both be written to {where}")


def _check_loss(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse to overwrite a file, whatever it holds, and to write into a folder that is read."""
    if path.is_file():
        raise click.ClickException(f"cannot write {path}: it is there already (--force overwrites it)")
    for other in inputs:
        if other.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(other)):
            raise click.ClickException(f"cannot write {path}: it is in {other}, which is read (--force writes it)")
