"""Processes with limits, in which a command reads the file of a stranger: what it does there ends nothing else.

    command ──`run`──> python -m deadheat COMMAND --isolated ... ──`begun`──> limits, then the file is opened
            <──────────────── status and at most `MOST_BYTES` of output ──────────────┘

Linux enforces all limits. macOS does not limit the address space; Windows has only the limit of the wall time.
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any

import click

from deadheat.cli.files import REAL, option
from deadheat.cli.shell import Verbosity
from deadheat.inputs.limits import untrusted
from deadheat.support.lazy import lazy

resource: Any = lazy("resource")  # not on Windows

ONLINE = "the process that read FILE could reach the network, as this system gives it no other without rights"
_OWN = ("labels", "gallery_labels", "exclude")
MOST_BYTES = 1 << 20  # of an answer
_GRACE = 5.0  # seconds after which a process is killed that has not ended itself
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # flags of unshare(2)
_OUT_OF_TIME = {-getattr(signal, name) for name in ("SIGALRM", "SIGXCPU") if hasattr(signal, name)}  # exit statuses
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",  # a process of one thread may leave the network without rights
    "MALLOC_ARENA_MAX": "2",  # glibc reserves 64 MB of address space for each
}


def options(switch: str) -> tuple[Any, ...]:
    """Return the options of limits, of a command whose option `switch` gives files a process of their own."""
    return (
        option("Run", "--memory", type=REAL, default=4.0, needs=switch, metavar="GIB",
            help="Give the process of a FILE so much address space, and let it write no larger file."),
        option("Run", "--time", "seconds", type=REAL, default=600.0, needs=switch, metavar="SECONDS",
            help="End the process of a FILE after so long, or as long on each core."),
        option("Run", "--isolated", is_flag=True, hidden=True,
            help="Read FILE in this process, which has these limits."),
    )  # fmt: skip


class Died(click.ClickException):
    """Error of a process that ended without an answer; the message says why."""


def require_positive(options: dict[str, Any]) -> None:
    """Refuse limits that no process can have."""
    for name, flag in (("memory", "--memory"), ("seconds", "--time")):
        if options[name] <= 0:
            raise click.UsageError(f"{flag} must be positive, but is {options[name]:g}")


def words_of(options: dict[str, Any]) -> list[str]:
    """Return those of the options that the running command was given, as words of a command line."""
    words: list[str] = []
    context = click.get_current_context()
    for param in context.command.params:
        is_given = context.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
        if isinstance(param, click.Option) and is_given and param.name in options:
            value, name = options[param.name], max(param.opts, key=len)
            if param.is_flag:
                words.append(name if value else max(param.secondary_opts, key=len))
            else:
                words += [f"{name}={each}" for each in (value if param.multiple else [value])]
    return words


def run(words: Sequence[str], file: Path, options: dict[str, Any], *, quiet: bool = True) -> tuple[int, bytes]:
    """Run the running command with other options and one file in a process of its own; return its status and output."""
    memory, seconds = options["memory"], options["seconds"]
    command = [sys.executable, "-P", "-m", "deadheat", str(click.get_current_context().command.name), "--isolated"]
    command += ["--quiet"] * (Verbosity.level < 0)
    command += [f"--memory={memory!r}", f"--time={seconds!r}", *words, "--", os.fspath(file)]
    errors = subprocess.DEVNULL if quiet else None
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
        env=os.environ | _ENVIRONMENT, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        timer = Timer(seconds + _GRACE, _end, [process])
        try:
            timer.start()
            answer = process.stdout.read(MOST_BYTES + 1)
            if len(answer) <= MOST_BYTES:
                process.wait()
        except RuntimeError as error:  # of `start`
            raise OSError(errno.EAGAIN, f"cannot watch the process of {file}: {error}") from None
        finally:
            late = not timer.is_alive()
            timer.cancel()
            _end(process)
    if len(answer) > MOST_BYTES:
        raise Died(f"{file}: its process printed more than {MOST_BYTES} bytes")
    if late or process.returncode in _OUT_OF_TIME:
        raise Died(f"{file} took longer than {seconds:g} s (--time)")
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        raise Died(f"{file}: its process was ended by {name}; does it need more than {memory:g} GiB (--memory)?")
    return process.returncode, answer


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if process.returncode is None and hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()


@contextmanager
def begun(options: dict[str, Any]) -> Iterator[bool]:
    """Take files for those of strangers until the block ends, and limit this process for good, if it is isolated.

    The files of labels are the organiser's own, and may be links. Yield whether the process can reach the network.
    """
    if not options["isolated"]:
        yield True
        return
    options |= {key: _followed(options[key]) for key in _OWN}
    _limit(options["memory"], options["seconds"])
    online = not _left_network()
    with untrusted():
        yield online


def _followed(path: Any) -> Any:
    """Return the target of a link, or those of several."""
    if isinstance(path, tuple):
        return tuple(map(_followed, path))
    return Path(os.path.realpath(path)) if path is not None and path.is_symlink() else path


def _limit(memory: float, seconds: float) -> None:
    """Limit the address space, files and times of this process, and have the system end it after these."""
    if sys.platform != "win32":
        n_byte, n_second = math.ceil(memory * 2**30), math.ceil(seconds) * (os.cpu_count() or 1)
        for limit, most in (
            (resource.RLIMIT_AS, n_byte), (resource.RLIMIT_FSIZE, n_byte), (resource.RLIMIT_CPU, n_second),
            (resource.RLIMIT_CORE, 0),
        ):  # fmt: skip
            hard = resource.getrlimit(limit)[1]
            allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with suppress(ValueError, OSError):  # macOS refuses to limit the address space
                resource.setrlimit(limit, (allowed, allowed))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _left_network() -> bool:
    """Move this process into a network of its own, without devices, if the system lets it."""
    if sys.platform != "linux":
        return False
    unshare = ctypes.CDLL(None).unshare
    return any(unshare(flags) == 0 for flags in (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK))
