"""A call of the command, that it passes, and that it is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from deadheat.cli.main import main


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its name."""
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        yield name, command


def run(*args: object, **options: Any) -> Result:
    """Call the command in this process, with the options of click's runner."""
    return CliRunner().invoke(main, [str(arg) for arg in args], **options)


def passed(*args: object, **options: Any) -> str:
    """Standard output of a run that must succeed and say nothing else."""
    result = run(*args, **options)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refused(*args: object, **options: Any) -> str:
    """The one line of a run that must fail, without "deadheat: "."""
    result = run(*args, **options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("deadheat: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    return result.stderr.removeprefix("deadheat: ").rstrip("\n")


def reason(*args: object) -> str:
    """The same, without where there is more to read."""
    return refused(*args).partition(" (see deadheat")[0]


def shell(folder: Path, line: str) -> tuple[int, str, str]:
    """Status, standard output and standard error of a line of bash in which ``deadheat`` is the command."""
    program = f"deadheat() {{ {sys.executable} -c 'from deadheat.cli.main import main; main()' \"$@\"; }}\n"
    done = subprocess.run(
        ["bash", "-c", program + line], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr
