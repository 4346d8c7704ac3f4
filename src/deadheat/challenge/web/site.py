"""What each address of the page answers."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from deadheat.challenge import archives, handing_in, publication, standings
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store, Submission, TooMany
from deadheat.challenge.web.guesses import Guesses, TooManyGuesses
from deadheat.challenge.web.pages import Pages
from deadheat.errors import InputError
from deadheat.support.extras import require
from deadheat.support.lazy import json, lazy

WHAT = "the page of a challenge"
_COOKIE = "deadheat-token"
_WEEK = 7 * 86_400  # seconds
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
uploads = lazy("deadheat.challenge.web.uploads")
connections = lazy("deadheat.challenge.web.connections")


def application(challenge: Challenge, store: Store) -> Any:
    """The page as an ASGI application."""
    routing = require("starlette.routing", "challenge", WHAT)
    applications = require("starlette.applications", "challenge", WHAT)
    require("python_multipart", "challenge", WHAT)
    site = _Site(challenge, store)
    routes = [
        routing.Route("/", site.board),
        routing.Route("/style.css", site.style),
        routing.Route("/hand-in", site.own),
        routing.Route("/sign-in", site.sign_in, methods=["POST"]),
        routing.Route("/sign-out", site.sign_out, methods=["POST"]),
        routing.Route("/submissions", site.upload, methods=["POST"]),
        routing.Route("/submissions/{name}", site.submission),
    ]
    handlers = {
        404: site.not_found, 405: site.not_found, 400: site.no_form, TooManyGuesses: site.too_many_guesses,
        OSError: site.broken,
    }  # fmt: skip
    made = applications.Starlette(routes=routes, exception_handlers=handlers)
    made.router.redirect_slashes = False  # to whatever host the request names
    return _with_headers(made)


class _Site:
    """The pages of one challenge."""

    def __init__(self, challenge: Challenge, store: Store) -> None:
        self._challenge, self._store = challenge, store
        self._pages = Pages(challenge)
        self._gate = uploads.Gate()
        self._guesses = Guesses(store.team_of)

    def board(self, request: Any) -> Any:
        """The leaderboard; for everybody."""
        rows = standings.kept(self._store)
        if _wants_json(request):
            return responses.JSONResponse([publication.public(row) for row in rows])
        try:
            team = self._team(request)
        except TooManyGuesses:
            team = None
        return self._page("board.html", rows=rows, team=team)

    def style(self, request: Any) -> Any:
        return responses.Response(self._pages.style, media_type="text/css", headers={"cache-control": "max-age=300"})

    def own(self, request: Any) -> Any:
        """What a team has handed in, and where it hands in; or where it says who it is."""
        team = self._team(request)
        mine = [] if team is None else self._store.of_team(team)
        return self._page("hand_in.html", team=team, submissions=[(each, self._value(each)) for each in mine])

    def submission(self, request: Any) -> Any:
        """One submission, for its own team: to others it is as if there were none."""
        team, found = self._team(request), self._store.find(request.path_params["name"])
        if team is None or found is None or found.team != team:
            return self.not_found(request)
        return self._shown(request, found)

    async def sign_in(self, request: Any) -> Any:
        """A browser gets the token as a cookie that scripts and other pages cannot use."""
        if not _from_here(request):
            return self._refused(request, 403, "This form was sent from another page.")
        if int(request.headers.get("content-length") or _COOKIE_MOST + 1) > _COOKIE_MOST:
            return self._refused(request, 413, "That is no token.")
        try:
            async with asyncio.timeout(uploads.GRACE), request.form(max_files=0, max_fields=1) as form:
                token = str(form.get("token", "")).strip()
        except TimeoutError:
            return self._refused(request, 408, "The form took too long.")
        if await asyncio.to_thread(self._guesses.team_of, token, _address(request)) is None:
            return self._refused(request, 401, "Nobody has this token. The organiser gives them out.")
        answer = responses.RedirectResponse("/hand-in", status_code=303)
        secure = request.scope["scheme"] == "https"
        answer.set_cookie(_COOKIE, token, max_age=_WEEK, httponly=True, samesite="strict", secure=secure)
        return answer

    def sign_out(self, request: Any) -> Any:
        if not _from_here(request):
            return self._refused(request, 403, "This form was sent from another page.")
        answer = responses.RedirectResponse("/hand-in", status_code=303)
        answer.delete_cookie(_COOKIE)
        return answer

    async def upload(self, request: Any) -> Any:
        """A file of a team: who sends it is known, and whether it may, before anything of it is read."""
        team = await asyncio.to_thread(self._team, request)
        if team is None:
            return self._refused(request, 401, "Handing in takes a token. The organiser gives them out.")
        if not _from_here(request):
            return self._refused(request, 403, "This form was sent from another page.")
        rules = self._challenge.rules
        try:
            async with self._gate(team):
                found = await self._received(request, team)
        except uploads.TooLarge:
            return self._refused(request, 413, f"A file may have at most {rules.upload} MB.")
        except uploads.TooManyAtOnce:
            return self._refused(request, 429, "Other uploads of the team are under way: wait for them.")
        except uploads.Gone:
            return responses.Response(status_code=400)  # which nobody reads
        except TimeoutError:
            return self._refused(request, 408, "The upload came too slowly.")
        except uploads.NoRoom:
            return self._refused(request, 507, "There is no room for files now: try again later.")
        except TooMany as error:
            return self._refused(request, 429, f"{error}.")
        except InputError as error:
            return self._refused(request, 400, f"{error}.")
        if found is None:
            return self._refused(request, 400, "The form has no file.")
        if _wants_json(request):
            return await asyncio.to_thread(self._shown, request, found)
        return responses.RedirectResponse(f"/submissions/{found.id}", status_code=303)

    async def _received(self, request: Any, team: str) -> Submission | None:
        uploads.require_room(self._challenge.handed_in, archives.most_bytes(self._challenge.rules))
        folder = await asyncio.to_thread(handing_in.incoming, self._challenge)
        try:
            file, title = await uploads.received(request, archives.most_bytes(self._challenge.rules), folder)
            if file is None:
                return None
            if file.stat().st_size > archives.most_bytes(self._challenge.rules):
                raise uploads.TooLarge
            take = handing_in.hand_in_upload
            found: Submission = await asyncio.to_thread(
                take, self._challenge, self._store, team, handing_in.title_of(title), file
            )
            return found
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def not_found(self, request: Any, error: Any = None) -> Any:
        return self._refused(request, 404, "There is nothing here, or nothing that you may see.")

    def no_form(self, request: Any, error: Any = None) -> Any:
        return self._refused(request, 400, "That is no form with one file.")

    def too_many_guesses(self, request: Any, error: Any = None) -> Any:
        return self._refused(request, 429, "Too many wrong tokens came from this address: try again in a minute.")

    def broken(self, request: Any, error: Any) -> Any:
        """What the system says is for the organiser."""
        print(f"deadheat: {request.scope['method']}: {error}", file=sys.stderr, flush=True)
        return self._refused(request, 503, "The server could not do that now: try again later.")

    # -----------------------------------------------------------------------------------------------------------------

    def _team(self, request: Any) -> str | None:
        """Whose token came with a request: in the header of a program, or in the cookie of a browser."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip() if kind.lower() == "bearer" else request.cookies.get(_COOKIE, "")
        return self._guesses.team_of(token, _address(request)) if token else None

    def _value(self, submission: Submission) -> Any:
        """Lower, expected and upper of the measure that ranks; None without a score."""
        text = self._store.receipt(submission.id)
        return None if text is None else self._pages.value(json.loads(text))

    def _shown(self, request: Any, found: Submission) -> Any:
        text, ahead = self._store.receipt(found.id), self._store.ahead_of(found)
        waits = found.state == "queued" and self._store.used(found.team) >= self._challenge.rules.seconds_per_day
        if _wants_json(request):
            return responses.JSONResponse(self._pages.as_json(found, text, ahead, waits))
        measures = None if text is None else self._pages.measures(json.loads(text))
        return self._page(
            "submission.html", team=found.team, submission=found, ahead=ahead, waits=waits, measures=measures
        )

    def _refused(self, request: Any, status: int, message: str) -> Any:
        headers = {"connection": "close"} if status in (408, 413) else {}
        if _wants_json(request):
            return responses.JSONResponse({"error": message}, status_code=status, headers=headers)
        page = self._page("message.html", message=message, team=None)
        page.status_code = status
        page.headers.update(headers)
        return page

    def _page(self, name: str, **content: Any) -> Any:
        return responses.HTMLResponse(self._pages.render(name, **content))


_COOKIE_MOST = 1024  # bytes of the form that has a token


def _wants_json(request: Any) -> bool:
    """Programs, which send their token in a header or ask for it, get JSON."""
    return "authorization" in request.headers or "application/json" in request.headers.get("accept", "")


def _from_here(request: Any) -> bool:
    """Whether a form was sent from a page of this site; programs do not say."""
    origin = request.headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:  # no address at all
        return False


def _address(request: Any) -> str:
    """Who asks: an address, or a network."""
    return str(connections.network(request.client.host if request.client else ""))


def _with_headers(app: Any) -> Callable[..., Any]:
    """Every answer says what a browser must not do with it."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                more = [(name.encode(), text.encode()) for name, text in _HEADERS.items()]
                message = {
                    **message,
                    "headers": [*message["headers"], *(each for each in more if each[0] not in given)],
                }
            await send(message)

        await app(scope, receive, sent)

    return answer
