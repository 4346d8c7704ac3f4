"""`deadheat challenge serve`: a socket, the web server, and a worker that is started anew when it ends."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from deadheat.challenge.handing_in import sweep
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store
from deadheat.challenge.web.site import WHAT, application
from deadheat.support.extras import require
from deadheat.support.lazy import lazy

connections = lazy("deadheat.challenge.web.connections")

_PAUSE = 1.0  # seconds before a worker that ended is replaced
_HEADERS = 16 << 10  # bytes of a request without its body
_OPEN_FILES = 4096


def serve(
    challenge: Challenge, store: Store, host: str, port: int, certificate: Path | None = None, key: Path | None = None
) -> None:
    """Serve until interrupted; prints the address once it can be reached.

    Raises
    ------
    OSError
        If the address cannot be had.
    MissingPackageError
        Without Starlette, Uvicorn, python-multipart or Jinja (the extra ``challenge``).
    """
    uvicorn = require("uvicorn", "challenge", WHAT)
    app = application(challenge, store)
    settings = uvicorn.Config(
        app, http=connections.Connection, ws="none", lifespan="off", log_level="warning", server_header=False,
        h11_max_incomplete_event_size=_HEADERS, ssl_certfile=certificate, ssl_keyfile=key, timeout_graceful_shutdown=5,
    )  # fmt: skip
    sweep(challenge, store)
    _allow_open_files()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening, _worker(challenge):
        at = f"[{host}]" if ":" in host else host
        print(f"{'https' if certificate else 'http'}://{at}:{listening.getsockname()[1]}", flush=True)
        uvicorn.Server(settings).run(sockets=[listening])


def _allow_open_files() -> None:
    """Let the process have more files open than connections, where the system's default is fewer."""
    with suppress(ImportError, ValueError, OSError):
        resource = import_module("resource")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


@contextmanager
def _worker(challenge: Challenge) -> Iterator[None]:
    """Keep one worker running until the block ends."""
    over = threading.Event()

    def keep() -> None:
        while not over.is_set():
            words = [sys.executable, "-m", "deadheat.challenge.worker", str(challenge.folder)]
            with subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) as process:
                while process.poll() is None and not over.wait(0.1):
                    pass
            over.wait(_PAUSE)

    thread = threading.Thread(target=keep)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
