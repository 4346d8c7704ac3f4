"""Types of arguments and options: numbers, files that are read, and files that are written without losing others.

An output replaces a file only if that is no input of the command and is empty or of the kind that is written, as its
first and last bytes show; `--force` allows the rest. `Command` checks that before it runs, for all parameters that are
an `Output`; the parameters that are another `Source` are the inputs.
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

from deadheat.cli.shell import STDIN, STDOUT, Verbosity, check_output, in_words_of, note
from deadheat.inputs.files import fitting, held
from deadheat.support import checks

_HEAD, _TAIL = 64, 1 << 16  # bytes of a file that show its kind: archives list at their end what is in them


class Source(click.Path):
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

    def files(self, path: Path) -> Iterable[Path]:
        """Return the files that are read: those that match a pattern."""
        return map(Path, fitting(path))


class Choice(click.Choice):  # type: ignore[type-arg]
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
        found = int(value) if re.fullmatch(r"[+-]?[0-9]{1,4000}", str(value)) else None
        if found is None or not self.least <= found <= self.most:
            least = f" of at least {self.least}" if self.least > -math.inf else ""
            allowed = least if self.most == math.inf else f" from {self.least} to {self.most}"
            return _refuse(f"must be an integer{allowed}", value if found is None else found, param, ctx)
        return found


class Real(click.ParamType):  # type: ignore[type-arg]
    """A finite number as Python writes one, without underscores."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        with suppress(ValueError):
            found = float(value if str(value).isascii() and "_" not in str(value) else "")
            if math.isfinite(found):
                return found
        return _refuse("must be a finite number", value, param, ctx)


PATH, LINES, FILE = Source(".csv"), Source(".txt"), Source()  # FILE is no text
INTEGER, REAL = Whole(), Real()
SEED, THREADS = Whole(0), Whole(1, checks.MOST_THREADS)


def _refuse(rule: str, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
    name = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx) if param and ctx else "it"
    raise click.UsageError(f"{name} {rule}, but is {checks.shown(value)}", ctx)


class Kind(NamedTuple):
    """A kind of output: its name, the endings of its files, and the pattern that their bytes match."""

    name: str
    endings: tuple[str, ...]
    begins: bytes

    def fits(self, path: Path) -> bool:
        """Return whether a file is empty, or was written as this kind is."""
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            head = file.read(_HEAD)
            file.seek(max(file.tell(), size - _TAIL))
            return not head or re.match(self.begins, head + file.read(), re.DOTALL) is not None


JSON = Kind("JSON", (".json",), rb"\{")
MARKDOWN = Kind("a table in Markdown", (".md", ".markdown"), rb"\||\*\*")
LATEX = Kind("a table for LaTeX", (".tex",), rb"\\begin\{")
HTML = Kind("a page (HTML)", (".html", ".htm"), rb"<!doctype html")
PROFILE = Kind("a tie profile", (".npz",), rb"PK.*format\.npy.*digest\.npy")
QUERIES = tuple(
    Kind("a table of queries", (ending,), begins)
    for ending, begins in {
        ".csv": rb"query,",
        ".tsv": rb"query\t",
        ".npz": rb"PK.*query\.npy.*_lower\.npy",
        ".parquet": rb"PAR1.*query.*_lower",
    }.items()
)
PICTURES = (
    Kind("a picture (PNG)", (".png",), rb"\x89PNG"),
    Kind("a picture (PDF)", (".pdf",), rb"%PDF"),
    Kind("a picture (SVG)", (".svg",), rb"<\?xml|<svg"),
)


class Output(Source):
    """A file to write, of one of some kinds; if it is text, also standard output, by any name."""

    def __init__(self, *kinds: Kind, is_text: bool = False) -> None:
        super().__init__()
        self.kinds, self.is_text = kinds, is_text

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if os.fspath(value) == "-":
            return STDOUT if self.is_text else _refuse("must name a file, as only text is printed", value, param, ctx)
        path = super().convert(value, param, ctx)
        if self.is_text:
            with suppress(OSError, AttributeError, ValueError):  # not there, or standard output is no file
                return STDOUT if os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno())) else path
        return path

    def kind_of(self, path: Path) -> Kind:
        return next((kind for kind in self.kinds if path.suffix.lower() in kind.endings), self.kinds[0])


GROUPS = ("Input", "TREC run", "Ranking", "Measure", "Statistics", "Output", "Run")  # of options


class Option(click.Option):
    """An option that the help shows in one of the groups."""

    def __init__(self, *args: Any, group: str, **settings: Any) -> None:
        settings.setdefault("show_default", settings.get("default") not in (None, ""))
        super().__init__(*args, **settings)
        self.group = group


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
            self.params.append(_flag("--force", "any_output", text="Overwrite input files and files of another kind."))
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
        with in_words_of(self):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with in_words_of(self):
            return self._checked_and_run(ctx)

    def _checked_and_run(self, ctx: click.Context) -> Any:
        force, quiet, verbose = (ctx.params.pop(name, False) for name in ("any_output", "quiet", "verbose"))
        Verbosity.level = -1 if quiet else int(verbose)
        self._read_standard_input(ctx)
        paths = list(self._paths(ctx))
        outputs = [(source, path) for source, path in paths if isinstance(source, Output)]
        _check_places([path for _, path in outputs])
        for source, path in outputs:
            if path != STDOUT:
                check_output(path)
                if not force:
                    _check_loss(path, source.kind_of(path), [pair for pair in paths if pair not in outputs])
        start = time.perf_counter()
        status = super().invoke(ctx)
        note(f"{ctx.command_path}: {time.perf_counter() - start:.2f} s", level=1)
        return status

    def _read_standard_input(self, ctx: click.Context) -> None:
        """Replace "-" by a path that stands for the text of standard input."""
        places = [
            (param.name or "", param.type, place)
            for param in self.params
            if isinstance(param.type, Source) and param.type.alone
            for place, path in enumerate(_each(ctx.params.get(param.name or "")))
            if path == STDIN
        ]
        if len(places) > 1:
            raise click.UsageError("standard input (-) can be read only once", ctx)
        for name, source, place in places:
            path, value = ctx.with_resource(_standard_input(source.alone)), ctx.params[name]
            ctx.params[name] = (*value[:place], path, *value[place + 1 :]) if isinstance(value, tuple) else path

    def _paths(self, ctx: click.Context) -> Iterator[tuple[Source, Path]]:
        for param in self.params:
            if isinstance(param.type, Source):
                for path in _each(ctx.params.get(param.name or "")):
                    yield param.type, path


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


def _check_loss(path: Path, kind: Kind, inputs: Sequence[tuple[Source, Path]]) -> None:
    """Refuse to overwrite an input, to write into a folder that is read, or to overwrite a file of another kind."""
    for other in (file for source, given in inputs for file in source.files(given)):
        if path.exists() and other.exists() and path.samefile(other):
            raise click.ClickException(f"cannot write {path}: it is one of the input files (--force overwrites it)")
        if other.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(other)):
            raise click.ClickException(f"cannot write {path}: it is in {other}, which is read (--force writes it)")
    if path.is_file() and not kind.fits(path):
        raise click.ClickException(f"cannot write {path}: it is there and is not {kind.name} (--force overwrites it)")
