"""`deadheat challenge serve`: a socket, the web server, and a worker that is started anew when it ends."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deadheat.challenge.handing_in import sweep
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store
from deadheat.challenge.web.site import WHAT, application
from deadheat.support.extras import require

_PAUSE = 1.0  # seconds before a worker that ended is replaced
_CONNECTIONS = 256


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
        app, log_level="warning", server_header=False, limit_concurrency=_CONNECTIONS, ssl_certfile=certificate,
        ssl_keyfile=key, timeout_graceful_shutdown=5,
    )  # fmt: skip
    sweep(challenge)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening, _worker(challenge):
        at = f"[{host}]" if ":" in host else host
        print(f"{'https' if certificate else 'http'}://{at}:{listening.getsockname()[1]}", flush=True)
        uvicorn.Server(settings).run(sockets=[listening])


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
