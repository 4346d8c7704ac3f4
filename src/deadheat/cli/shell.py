"""The command as a program: errors in one line, files whole or not at all, a progress bar only for a person.

Nothing here knows what the command computes.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, NoReturn

import click
from click.shell_completion import CompletionItem

from deadheat.errors import MOST, printable
from deadheat.support.atomic import is_special, replacing
from deadheat.support.lazy import difflib, lazy, tempfile
from deadheat.support.progress import Bar

logging: Any = lazy("logging")

FAILED, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
STDIN = STDOUT = Path("-")
_DEBUG = "DEADHEAT_DEBUG"  # set in the environment to see tracebacks
_PATIENCE = 1.0  # seconds of work without a progress bar


class Verbosity:
    """Amount of text on standard error besides errors: none with --quiet, also files and times with --verbose."""

    level = 0  # -1, 0, 1


class Program(click.Group):
    """A group of commands that suggests the one that was meant, and ends any error with one line and exit status 2.

    Its help has `sections` of commands, with a sentence each.
    """

    sections: ClassVar[dict[str, dict[str, str]]]

    @property
    def sentences(self) -> dict[str, str]:
        """The commands, each with its sentence."""
        return {name: text for section in self.sections.values() for name, text in section.items()}

    def main(self, *args: Any, **options: Any) -> Any:
        Verbosity.level = 0
        with _errors_in_one_line(), _warnings_in_one_line():
            status = super().main(*args, **{"prog_name": "deadheat", **options, "standalone_mode": False})
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        with _errors_in_one_line():  # before click gets to see an interrupt or a closed pipe
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.sentences)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.sentences))
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in section.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(name, help=text) for name, text in self.sentences.items() if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.sentences and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self.sentences, n=1)
            raise click.UsageError(f"no command {args[0]!r}" + (f"; did you mean {near[0]!r}?" if near else ""), ctx)
        return super().resolve_command(ctx, args)


def flags_of(command: click.Command) -> dict[str, str]:
    """Map the arguments of the library to the options of a command that set them: group_size to ``--group-size``."""
    result: dict[str, str] = {}
    for param in command.params:
        if isinstance(param, click.Option):
            flag = "/".join(max(opts, key=len) for opts in (param.opts, param.secondary_opts) if opts)
            result |= dict.fromkeys((param.name or "", max(param.opts, key=len).strip("-").replace("-", "_")), flag)
    return result


def say(text: str) -> None:
    """Print to standard output, at once, so that a full disk is noticed while it can still be reported.

    For a terminal, characters that are not printable are escaped, except line breaks and tabs; a file or a pipe gets
    the text unchanged.
    """
    if sys.stdout is None:
        raise click.ClickException("cannot write to standard output: it is closed")
    try:
        if sys.stdout.isatty():
            text = "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
        click.echo(_encodable(text), color=True)  # otherwise click takes colours out of what may be ids
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"cannot write to standard output: {_reason(error)}") from None


def say_tables(text: str) -> None:
    """Print tables and their notes as `say` does, in the width of a terminal; a file or a pipe gets whole lines."""
    say(fitted(text, shutil.get_terminal_size().columns) if sys.stdout and sys.stdout.isatty() else text)


def fitted(text: str, width: int) -> str:
    """Return tables of text in at most `width` characters a line: columns in parts under each other, prose wrapped.

    Each part of a table begins with its first column. Lines of one length that follow each other are a table.

    Examples
    --------
    >>> print(fitted("name  lower  upper\\na         1      2", 12))
    name  lower
    a         1
    <BLANKLINE>
    name  upper
    a         2
    """
    parts: list[str] = []
    for length, group in itertools.groupby(text.split("\n"), len):
        lines = list(group)
        if length <= width:
            parts += lines
        elif len(lines) > 1:
            parts += _in_parts(lines, width)
        else:
            parts += textwrap.wrap(lines[0], width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(parts)


def _in_parts(lines: list[str], width: int) -> list[str]:
    """Return the lines of parts of a wide table, with an empty line between them; two blanks separate columns."""
    filled = "".join(" " if {*column} == {" "} else "x" for column in zip(*lines, strict=True))
    ends = [match.end() for match in re.finditer(r"x(?=  |$)", filled)]
    head, parts = ends[0], [(ends[0], ends[0])]
    for start, end in itertools.pairwise(ends):
        first = parts[-1][0]
        fits = first == parts[-1][1] or head + end - first <= width
        parts[-1:] = [(first, end)] if fits else [parts[-1], (start, end)]
    return "\n\n".join("\n".join((line[:head] + line[a:b]).rstrip() for line in lines) for a, b in parts).split("\n")


def _encodable(text: str) -> str | bytes:
    """Return the text in characters that standard output has, "?" for any other.

    Ids that are not UTF-8 are written as the bytes that were read.
    """
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        with suppress(UnicodeEncodeError):
            return text.encode(encoding, "surrogateescape")
        return text.encode(encoding, "replace").decode(encoding)
    return text


def check_output(path: Path) -> None:
    """Make sure, before long work, that a file can be written, without leaving anything behind."""
    if path.is_dir():
        raise click.ClickException(f"cannot write {path}: it is a folder")
    with _written(path):
        if path.exists() and not os.access(path, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        if not is_special(path):
            tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent).close()


@contextmanager
def output(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write, as `replacing` does."""
    with _written(path), replacing(path) as file:
        yield file


@contextmanager
def bar(title: str) -> Iterator[Bar | Literal[False]]:
    """Show a progress bar to a person who has to wait; yield False, for none, with --quiet or without a terminal."""
    if sys.stderr is None or not sys.stderr.isatty() or Verbosity.level < 0:
        yield False
        return
    with Bar(title, patience=_PATIENCE) as shown:
        yield shown


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    try:
        yield
    except click.exceptions.Exit:
        raise
    except (KeyboardInterrupt, click.Abort) as error:
        _fail(f"interrupted{f': {error}' if str(error) else ''}", INTERRUPTED)
    except BrokenPipeError:
        _drop_stdout()
        sys.exit(PIPE_CLOSED)
    except click.UsageError as error:
        where = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        _fail(f"{error.format_message().rstrip('.')}{where}")
    except click.ClickException as error:
        _fail(error.format_message())
    except OSError as error:
        _fail(f"{error.filename}: {_reason(error)}" if error.filename is not None else _reason(error))
    except MemoryError as error:
        _fail(f"not enough memory{f': {error}' if str(error) else ''}")
    except (ValueError, TypeError, ImportError) as error:
        if _DEBUG in os.environ:
            raise
        _fail(str(error))
    except Exception as error:
        if _DEBUG in os.environ:
            raise
        _fail(f"unexpected {type(error).__name__}: {error} ({_DEBUG}=1 shows where)")


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print warnings without the line of the program that warns."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: note(f"warning: {message}")
        yield


@contextmanager
def log_in_one_line() -> Iterator[None]:
    """Print the log of deadheat as notes."""
    logger = logging.getLogger("deadheat")

    def printed(record: Any) -> bool:
        note(record.getMessage())
        return False

    level = logger.level
    logger.setLevel("INFO")
    logger.addFilter(printed)
    try:
        yield
    finally:
        logger.removeFilter(printed)
        logger.setLevel(level)


def _fail(message: str, status: int = FAILED) -> NoReturn:
    _drop_stdout()
    with suppress(OSError):
        _print_line(message)
    sys.exit(status)


def note(message: str, *, level: int = 0) -> None:
    """Print one line to standard error, unless --quiet; at level 1, only with --verbose."""
    if Verbosity.level >= level:
        _print_line(message)


def _print_line(message: str) -> None:
    click.echo(f"deadheat: {printable(' '.join(message.split()), 3 * MOST)}", err=True)


def _drop_stdout() -> None:
    """Drop output that standard output cannot take, or the interpreter would report the error again at exit."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Name the file, and not the temporary one, in an error of writing it."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
