"""The page of a challenge: who sees what, what it refuses, and how it looks in a browser."""

from __future__ import annotations

import os
import re
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trust.challenge.conftest import ROWS, waited
from trust.challenge.serving import SLOW, Answer, Site, ask, begun, finished, form, npz, opened, posix, served, upload

from deadheat.trust.challenge.store import Store

pytestmark = posix
EVIL = "<script>alert(1)</script>"
TITLE = '"><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("web") / "challenge"
    teams = ("A", "B", "C", EVIL, "Zero", "Last")
    with served(folder, teams, title="Six <i>classes</i>", upload=1, per_day=60) as site:
        yield site


def test_what_is_uploaded_is_scored_and_on_the_leaderboard(site: Site) -> None:
    found = finished(site, "A", upload(site, "A", ROWS, "the whole"))
    assert (found["state"], found["team"], found["title"]) == ("scored", "A", "the whole")
    lower = found["percent"]["mAP"]["lower"]
    assert waited(lambda: "the whole" in ask(site, "GET", "/").text)
    assert f"<strong>{lower}</strong>" in ask(site, "GET", "/").text
    refused = finished(site, "A", upload(site, "A", np.full((60, 3), np.nan)))
    assert refused["message"].startswith("embeddings must be finite")


def test_names_of_files_are_not_used(site: Site) -> None:
    outside = sorted(site.challenge.folder.parent.iterdir())
    names = ("../../../evil.npz", "/tmp/evil.npz", "..\\evil", "a\0b", "")
    found = {upload(site, "B", ROWS[:, :3] + i, name=name).status for i, name in enumerate(names)}
    assert found <= {200, 400}
    assert sorted(site.challenge.folder.parent.iterdir()) == outside
    inside = {path.name for path in site.challenge.submissions.iterdir()}
    assert inside == {submission.id for submission in Store(site.challenge.folder).select()}


# Who may see what -----------------------------------------------------------------------------------------------------


def test_nobody_gets_in_without_a_token(site: Site) -> None:
    count = len(Store(site.challenge.folder).select())
    body, headers = form(npz(ROWS))
    for more in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer none"}, {"Authorization": "Basic QTpC"},
                 {"Cookie": "deadheat-token=none"}, {"Authorization": "Bearer \xff"}):  # fmt: skip
        assert ask(site, "POST", "/submissions", None, body, **headers, **more).status == 401
    assert len(Store(site.challenge.folder).select()) == count


def test_a_submission_is_for_its_team_alone(site: Site) -> None:
    name = upload(site, "A", ROWS).content["id"]
    assert ask(site, "GET", f"/submissions/{name}", "A").status == 200
    missing = ask(site, "GET", f"/submissions/{'0' * 32}", "B")
    for team in ("B", None):
        assert ask(site, "GET", f"/submissions/{name}", team).status == 404
    assert ask(site, "GET", f"/submissions/{name}", "B").text == missing.text  # nothing shows that there is one
    assert name not in ask(site, "GET", "/").text


PLACES = [
    "/labels.npy", "/challenge.db", "/secret", "/../labels.npy", "/%2e%2e/labels.npy", "/submissions/../../labels.npy",
    "/submissions/..%2f..%2flabels.npy", "/submissions/labels.npy", "/submissions/", "/style.css/../labels.npy",
    "//etc/passwd", "/submissions/%00", "/submissions/' OR 1=1 --".replace(" ", "%20"), "/static/../secret",
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_no_address_leads_to_a_file(place: str, site: Site) -> None:
    answer = ask(site, "GET", place, "A")
    assert answer.status == 404
    assert site.challenge.secret.hex() not in answer.text
    assert "root:" not in answer.text


def test_every_answer_says_what_a_browser_must_not_do(site: Site) -> None:
    for path in ("/", "/submit", "/nowhere", "/style.css"):
        headers = ask(site, "GET", path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_another_site_cannot_hand_in_with_the_cookie_of_a_browser(site: Site) -> None:
    body, headers = form(npz(ROWS + 9))
    cookie = f"deadheat-token={site.tokens['A']}"
    answer = ask(site, "POST", "/submissions", None, body, **headers, Cookie=cookie, Origin="http://evil.example")
    assert answer.status == 403
    answer = ask(site, "POST", "/sign-in", None, f"token={site.tokens['A']}", Origin=site.url,
                 Content_Type="application/x-www-form-urlencoded")  # fmt: skip
    assert answer.status == 303
    assert all(word in answer.headers["set-cookie"] for word in ("HttpOnly", "SameSite=strict", "Path=/"))


# What is too much -----------------------------------------------------------------------------------------------------


def test_two_gigabytes_of_zeros_are_refused_as_they_stream(site: Site) -> None:
    sent = 0

    def zeros() -> Iterator[bytes]:
        nonlocal sent
        yield form(b"")[0].partition(b"\r\n--edge--")[0]
        for _ in range(2 << 10):
            yield bytes(1 << 20)
            sent += 1

    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        ask(site, "POST", "/submissions", "A", zeros(), Content_Type="multipart/form-data; boundary=edge")
    assert sent < 200  # megabytes, most of them on their way
    assert [path.name for path in site.challenge.submissions.glob(".*")] == []


def test_a_length_over_the_limit_is_refused_before_anything_is_sent(site: Site) -> None:
    head = begun(site, "A", length=2 << 30).partition(b"--edge")[0]
    with opened(site, head) as connection:
        answer = connection.recv(1 << 16) + connection.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b'{"error":"A file may have at most 1 MB."}' in answer


def test_uploads_that_are_cut_off_leave_nothing_and_a_team_has_so_many_at_once(site: Site) -> None:
    with ExitStack() as stack:
        hanging = [stack.enter_context(opened(site, begun(site, "Last"))) for _ in range(8)]
        refused, _, _ = select.select(hanging, [], [], SLOW)
        while len(refused) < 4:
            more, _, _ = select.select([each for each in hanging if each not in refused], [], [], SLOW)
            assert more, "fewer than four of eight were refused"
            refused += more
        assert all(b"429" in each.recv(1 << 16) for each in refused)
        assert select.select([each for each in hanging if each not in refused], [], [], 1.0)[0] == []
    assert waited(lambda: list(site.challenge.submissions.glob(".*")) == [])
    assert upload(site, "Last", ROWS * 0, "all zero").status == 200


MULTIPART = "multipart/form-data; boundary=edge"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        *((body, MULTIPART) for body in (
            b"", form(None)[0], b"x" * 100, form(b"x", "a\x1bb")[0], form(b"x", "a" * 99_999)[0],
            form(b"x")[0].replace(b"--edge--", b"") + form(b"y")[0])),
        (b"x" * 100, "multipart/form-data"),
        (b"{}", "application/json"),
    ],
)  # fmt: skip
def test_forms_that_are_none_are_refused(body: bytes, kind: str, site: Site) -> None:
    answer = ask(site, "POST", "/submissions", "A", body, Content_Type=kind)
    assert answer.status == 400, answer.text
    assert list(answer.content) == ["error"]


def test_a_day_has_so_many_uploads(site: Site, tmp_path: Path) -> None:
    store = Store(site.challenge.folder)
    for i in range(59):  # commands, which the page's worker leaves alone
        (tmp_path / "file").write_text(str(i))
        store.add("C", "", str(i), "[]", tmp_path / "file")
    assert [upload(site, "C", ROWS[:, :1] + i).status for i in (0, 1, 0)] == [200, 429, 200]  # the same is not one more


def test_teams_upload_at_the_same_time_and_a_killed_worker_loses_nothing(site: Site) -> None:
    answers: list[tuple[str, Answer]] = []

    def send(team: str, i: int) -> None:
        answers.append((team, upload(site, team, ROWS + 100 * i + len(team))))

    threads = [threading.Thread(target=send, args=(team, i)) for team in ("A", "B") for i in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        for path in Path(f"/proc/{site.pid}/task").glob("*/children"):
            for child in path.read_text().split():
                os.kill(int(child), signal.SIGKILL)
        time.sleep(0.5)
    for thread in threads:
        thread.join()
    found = [finished(site, team, answer) for team, answer in answers]
    assert [each["state"] for each in found] == ["scored"] * 6
    assert len({each["id"] for each in found}) == 6
    store = Store(site.challenge.folder)
    assert len({submission.id for submission, _, _ in store.scores()}) == len(store.scores())


# In a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def shown(browser: Any, site: Site) -> Iterator[Callable[..., Any]]:
    """Opens a page, signed in as a team; nothing may be said on its console, and nothing asked for elsewhere."""
    complaints: list[str] = []
    with ExitStack() as stack:

        def show(path: str, team: str | None = None, said: str = "\0", **settings: Any) -> Any:
            context = browser.new_context(**{"viewport": {"width": 1100, "height": 900}, **settings})
            stack.callback(context.close)
            page = context.new_page()
            page.on("console", lambda message: said in message.text or complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(dialog.message))
            own = site.url, "data:"
            page.on("request", lambda asked: asked.url.startswith(own) or complaints.append(asked.url))
            page.goto(site.url + path)
            if team is not None:
                assert page.get_by_label("token").get_attribute("type") == "password"
                page.get_by_label("token").fill(site.tokens[team])
                page.get_by_role("button", name="Sign in").click()
            return page

        yield show
    assert complaints == []


def test_a_team_signs_in_hands_in_and_sees_its_score(shown: Callable[..., Any], site: Site, tmp_path: Path) -> None:
    (tmp_path / "evil.npz").write_bytes(npz(ROWS[:, :4] * 3))
    page = shown("/submit", EVIL)
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("File").set_input_files(tmp_path / "evil.npz")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Scored.").wait_for(timeout=30_000)  # the page refreshes itself
    assert TITLE in page.locator("dl").inner_text()
    assert page.locator("main img, main script").count() == 0
    page.get_by_role("link", name="All submissions").click()
    assert page.locator("tbody tr").count() == 1
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("token").wait_for()


def test_a_browser_says_that_a_file_is_too_large(shown: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "large.npz").write_bytes(bytes(30 << 20))
    page = shown("/submit", "B", said="413")
    page.get_by_label("File").set_input_files(tmp_path / "large.npz")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("A file may have at most 1 MB.").wait_for(timeout=20_000)


def test_a_file_of_another_kind_is_refused_at_upload(shown: Callable[..., Any], site: Site, tmp_path: Path) -> None:
    count = len(Store(site.challenge.folder).select())
    np.savez(tmp_path / "other.npz", vectors=ROWS)
    for file in (b"a,b\n1,2\n", ROWS.tobytes(), b"", (tmp_path / "other.npz").read_bytes()):
        body, headers = form(file)
        assert ask(site, "POST", "/submissions", "B", body, **headers).status == 400
    page = shown("/submit", "B", said="400")
    page.get_by_label("File").set_input_files({"name": "x.npz", "mimeType": "", "buffer": b"a,b\n1,2\n"})
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("file must be a .npz file as NumPy writes it").wait_for(timeout=20_000)
    assert len(Store(site.challenge.folder).select()) == count
    assert list(site.challenge.submissions.glob(".*")) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_leaderboard_on_screens_wide_and_small(
    scheme: str, width: int, shown: Callable[..., Any], site: Site, tmp_path: Path
) -> None:
    finished(site, EVIL, upload(site, EVIL, ROWS[:, :4], TITLE))
    finished(site, "Last", upload(site, "Last", ROWS * 0, "all zero"))
    assert waited(lambda: "all zero" in ask(site, "GET", "/").text)
    page = shown("/", viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    brightness = sum(map(int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))))
    assert brightness > 600 if scheme == "light" else brightness < 150
    assert EVIL in page.locator("tbody").inner_text()
    assert page.locator("main img, main script").count() == 0
    assert page.locator("tbody svg[role=img]").count() == page.locator("tbody tr").count() >= 2
    for name in ("expected", "upper", "95 % interval", "ahead of"):  # without scrolling sideways
        cell = page.locator(f"td[data-name='{name}']").first.bounding_box()
        assert cell["width"] > 20
        assert 0 <= cell["x"] < cell["x"] + cell["width"] <= width
    assert page.locator("h1").inner_text() == "Leaderboard"
    assert "<i>classes</i>" in page.locator("header").inner_text()


def test_the_first_key_leads_past_the_links(shown: Callable[..., Any]) -> None:
    page = shown("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
