"""The page of a challenge: leaderboard, upload, a team's own submissions. It reads no label, and serves no file.

    browser, curl ──> uploads (limited as they stream) ──> queue      worker (a process of its own)
                  <── pages <── database: state, message, leaderboard <──┘

Templates escape whatever they show.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deadheat.errors import InputError
from deadheat.reports.tables import program
from deadheat.support.lazy import json, lazy, require
from deadheat.support.triple import Triple
from deadheat.trust.challenge import leaderboard, sandbox, submissions
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store, Submission, TooMany
from deadheat.trust.receipts.document import Receipt

_WHAT = "the page of a challenge"
_PAUSE = 1.0  # seconds before a worker that ended is replaced
_HEAD = 16 << 10  # bytes of a request without its body
_OPEN_FILES = 4096
_COOKIE = "deadheat-token"
_COOKIE_MOST = 1024  # bytes of the form that has a token
_WEEK = 7 * 86_400  # seconds
_MISSING = "Not found, or not visible to you."
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

responses = lazy("starlette.responses")
clients = lazy("deadheat.trust.challenge.clients")


def application(challenge: Challenge, store: Store) -> Any:
    """The page as an ASGI application."""
    routing, applications, requests = (
        require(f"starlette.{name}", "challenge", _WHAT) for name in ("routing", "applications", "requests")
    )
    require("python_multipart", "challenge", _WHAT)
    site = Site(challenge, store)
    routes = [
        routing.Route("/", site.board),
        routing.Route("/style.css", site.style),
        routing.Route("/submit", site.own),
        routing.Route("/sign-in", site.sign_in, methods=["POST"]),
        routing.Route("/sign-out", site.sign_out, methods=["POST"]),
        routing.Route("/submissions", site.upload, methods=["POST"]),
        routing.Route("/submissions/{name}", site.submission),
    ]
    handlers = {
        404: lambda request, _: site.refused(request, 404, _MISSING),
        405: lambda request, _: site.refused(request, 404, _MISSING),
        400: lambda request, _: site.refused(request, 400, "The request must be a form with one file."),
        clients.Refusal: lambda request, error: site.refused(request, error.status, error.message),
        TooMany: lambda request, error: site.refused(request, 429, f"{error}."),
        InputError: lambda request, error: site.refused(request, 400, f"{error}."),
        OSError: site.broken,
        requests.ClientDisconnect: lambda request, _: responses.Response(status_code=400),  # which nobody reads
    }
    made = applications.Starlette(routes=routes, exception_handlers=handlers)
    made.router.redirect_slashes = False  # to whatever host the request names
    return _with_headers(made)


class Site:
    """The pages of one challenge."""

    def __init__(self, challenge: Challenge, store: Store) -> None:
        jinja2 = require("jinja2", "challenge", _WHAT)
        packages = ("trust.challenge", "plots")
        loaders = [jinja2.PackageLoader(f"deadheat.{package}", "templates") for package in packages]
        self._environment = jinja2.Environment(
            loader=jinja2.ChoiceLoader(loaders), autoescape=True, trim_blocks=True, lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )  # fmt: skip
        self._environment.filters |= {"percent": leaderboard.percent, "moment": moment}
        self._known = {"rules": challenge.rules, "version": program(), "unprotected": sandbox.NOTHING}
        self._style = self.render("challenge.css")
        self._challenge, self._store = challenge, store
        self._gate = clients.Gate()
        self._guesses = clients.Guesses(store.team_of)

    def board(self, request: Any) -> Any:
        """The leaderboard; for everybody."""
        rows = leaderboard.kept(self._store)
        if _wants_json(request):
            return responses.JSONResponse([leaderboard.public(row) for row in rows])
        try:
            team = self._team(request)
        except clients.Refusal:
            team = None
        return self._page("board.html", rows=rows, team=team)

    def style(self, request: Any) -> Any:
        return responses.Response(self._style, media_type="text/css", headers={"cache-control": "max-age=300"})

    def own(self, request: Any) -> Any:
        """What a team has submitted, and where it submits; or where it signs in."""
        team = self._team(request)
        mine, ranked_by = [] if team is None else self._store.select(team=team)[::-1], self._challenge.rules.measures[0]
        values = [self._values(self._store.receipt(each.id)).get(ranked_by) for each in mine]
        return self._page("submit.html", team=team, submissions=list(zip(mine, values, strict=True)))

    def submission(self, request: Any) -> Any:
        """One submission, for its own team: to others it is as if there were none."""
        team, found = self._team(request), self._store.find(id=request.path_params["name"])
        if team is None or found is None or found.team != team:
            raise clients.Refusal(404, _MISSING)
        return self._shown(request, found)

    async def sign_in(self, request: Any) -> Any:
        """A browser gets the token as a cookie that scripts and other pages cannot use."""
        _require_own_page(request)
        if int(request.headers.get("content-length") or _COOKIE_MOST + 1) > _COOKIE_MOST:
            raise clients.Refusal(413, "The token is too long.")
        try:
            async with asyncio.timeout(clients.GRACE), request.form(max_files=0, max_fields=1) as form:
                token = str(form.get("token", "")).strip()
        except TimeoutError:
            raise clients.Refusal(408, "The form took too long.") from None
        if await asyncio.to_thread(self._guesses.team_of, token, _address(request)) is None:
            raise clients.Refusal(401, "Unknown token. Ask the organiser for one.")
        answer = responses.RedirectResponse("/submit", status_code=303)
        secure = request.scope["scheme"] == "https"
        answer.set_cookie(_COOKIE, token, max_age=_WEEK, httponly=True, samesite="strict", secure=secure)
        return answer

    def sign_out(self, request: Any) -> Any:
        _require_own_page(request)
        answer = responses.RedirectResponse("/submit", status_code=303)
        answer.delete_cookie(_COOKIE)
        return answer

    async def upload(self, request: Any) -> Any:
        """A file of a team: who sends it is known, and whether it may, before anything of it is read."""
        team = await asyncio.to_thread(self._team, request)
        if team is None:
            raise clients.Refusal(401, "A token is needed to submit. Ask the organiser for one.")
        _require_own_page(request)
        rules = self._challenge.rules
        async with self._gate(team):
            clients.require_room(self._challenge.submissions, rules.most_bytes)
            folder = await asyncio.to_thread(submissions.incoming, self._challenge)
            try:
                file, title = await clients.received(request, rules.most_bytes, folder)
                title = submissions.title_of(title)
                await asyncio.to_thread(submissions.require_archive, file)
                found = await asyncio.to_thread(submissions.submit_file, self._store, team, title, file, rules)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if _wants_json(request):
            return await asyncio.to_thread(self._shown, request, found)
        return responses.RedirectResponse(f"/submissions/{found.id}", status_code=303)

    def broken(self, request: Any, error: Any) -> Any:
        """What the system says is for the organiser."""
        print(f"deadheat: {request.scope['method']}: {error}", file=sys.stderr, flush=True)
        return self.refused(request, 503, "The server could not complete the request: try again later.")

    def refused(self, request: Any, status: int, message: str) -> Any:
        headers = {"connection": "close"} if status in (408, 413) else {}
        if _wants_json(request):
            return responses.JSONResponse({"error": message}, status_code=status, headers=headers)
        page = self._page("message.html", message=message, team=None)
        page.status_code = status
        page.headers.update(headers)
        return page

    # -----------------------------------------------------------------------------------------------------------------

    def _team(self, request: Any) -> str | None:
        """Whose token came with a request: in the header of a program, or in the cookie of a browser."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip() if kind.lower() == "bearer" else request.cookies.get(_COOKIE, "")
        return self._guesses.team_of(token, _address(request)) if token else None

    def _values(self, receipt: str | None) -> dict[str, Triple[float]]:
        """What is published of each measure of a receipt."""
        content = {"measures": {}} if receipt is None else json.loads(receipt)
        return {name: leaderboard.triple(Receipt(content)[name]) for name in content["measures"]}

    def _shown(self, request: Any, found: Submission) -> Any:
        receipt, ahead = self._store.receipt(found.id), self._store.ahead_of(found)
        waits = found.state == "queued" and self._store.used(found.team) >= self._challenge.rules.seconds_per_day
        if _wants_json(request):
            return responses.JSONResponse(self.as_json(found, receipt, ahead, waits))
        values = self._values(receipt)
        return self._page("submission.html", team=found.team, submission=found, ahead=ahead, waits=waits, values=values)

    def as_json(self, submission: Submission, receipt: str | None, ahead: int, waits: bool) -> dict[str, Any]:
        """A submission for a program of its team's."""
        about = {name: getattr(submission, name) for name in ("id", "number", "team", "title", "state", "message")}
        percents = {
            name: {end: leaderboard.percent(getattr(each, end)) for end in each._fields}
            for name, each in self._values(receipt).items()
        }
        return {
            **about,
            "sha256": submission.digest,
            "received": moment(submission.received),
            "ahead_in_queue": ahead if submission.state in ("queued", "scoring") else 0,
            "out_of_time": waits,
            "percent": percents,
        }

    def render(self, name: str, **content: Any) -> str:
        return str(self._environment.get_template(name).render(self._known | content))

    def _page(self, name: str, **content: Any) -> Any:
        return responses.HTMLResponse(self.render(name, **content))


def moment(seconds: float) -> str:
    """When, in UTC.

    Examples
    --------
    >>> moment(0)
    '1970-01-01 00:00 UTC'
    """
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def _wants_json(request: Any) -> bool:
    """Programs, which send their token in a header or ask for it, get JSON."""
    return "authorization" in request.headers or "application/json" in request.headers.get("accept", "")


def _require_own_page(request: Any) -> None:
    """Refuse a form that was not sent from a page of this site; programs do not say where theirs come from."""
    origin = request.headers.get("origin")
    try:
        own = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:  # no address at all
        own = False
    if not own:
        raise clients.Refusal(403, "This form was sent from another page.")


def _address(request: Any) -> str:
    """Who asks: an address, or a network."""
    return str(clients.network(request.client.host if request.client else ""))


def _with_headers(app: Any) -> Callable[..., Any]:
    """Every answer says what a browser must not do with it."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                more = [(name.encode(), text.encode()) for name, text in _HEADERS.items()]
                headers = [*message["headers"], *(each for each in more if each[0] not in given)]
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, sent)

    return answer


# ---------------------------------------------------------------------------------------------------------------------
# serving: a socket, the web server, and a worker that is started anew when it ends


def serve(
    challenge: Challenge, store: Store, host: str, port: int, certificate: Path | None = None, key: Path | None = None
) -> None:
    """Serve until interrupted; prints the address once it can be reached."""
    uvicorn = require("uvicorn", "challenge", _WHAT)
    app = application(challenge, store)
    settings = uvicorn.Config(
        app, http=clients.Connection, ws="none", lifespan="off", log_level="warning", server_header=False,
        h11_max_incomplete_event_size=_HEAD, ssl_certfile=certificate, ssl_keyfile=key, timeout_graceful_shutdown=5,
    )  # fmt: skip
    submissions.sweep(challenge, store)
    _allow_open_files()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        socket.create_server((host, port), family=family) as listening,
        _worker(challenge),
        asyncio.Runner(loop_factory=_impatient_loop if certificate else None) as runner,
    ):
        at = f"[{host}]" if ":" in host else host
        print(f"{'https' if certificate else 'http'}://{at}:{listening.getsockname()[1]}", flush=True)
        runner.run(uvicorn.Server(settings).serve(sockets=[listening]))


def _impatient_loop() -> asyncio.AbstractEventLoop:
    """An event loop that waits for a TLS handshake no longer than for anything else that a client has to send."""
    loop = asyncio.new_event_loop()
    create_server = partial(loop.create_server, ssl_handshake_timeout=clients.TIMEOUT)
    loop.create_server = create_server  # type: ignore[method-assign]
    return loop


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
            words = [sys.executable, "-m", "deadheat.trust.challenge.scoring", "work", str(challenge.folder)]
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
