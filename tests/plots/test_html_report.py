"""The page about a report: what it holds, that nothing breaks out of it, and what a browser shows."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import passed, refused

import deadheat as dh
from deadheat.plots import pages

pytest.importorskip("jinja2", reason="pages need jinja2")
LABELS = np.array([f"class {i // 6:02d}" for i in range(180)])
EMBEDDINGS = np.random.default_rng(0).integers(-3, 4, (180, 3)) + np.arange(180)[:, None] // 6 % 5

GROUPS = [
    dh.TieProfile.from_groups([[(place, 0, tied, 1)]] * 20, n_ranked=[9] * 20) for place, tied in ((0, 1), (3, 3))
]
BETTER, WORSE = (dh.evaluate(profile, "MRR") for profile in GROUPS)
BOUNDED = [dh.evaluate(replace(profile, bounds_only=True), "MRR") for profile in GROUPS]  # as under a tolerance


@pytest.fixture(scope="module")
def report() -> dh.Report:
    return dh.evaluate(EMBEDDINGS, LABELS, measures=["mAP", "Hit@1"])


@pytest.fixture(scope="module")
def other() -> dh.Report:
    return dh.evaluate(EMBEDDINGS[:, :2], LABELS, measures=["mAP", "Hit@1", "AUC"])


@pytest.fixture(scope="module")
def full() -> str:
    """A page with all that a page can have, on the default measures."""
    one, two = (dh.evaluate(rows, LABELS) for rows in (EMBEDDINGS, EMBEDDINGS[:, :2]))
    result = dh.collisions(dh.Task(EMBEDDINGS, LABELS), depth=5)
    return dh.html_report(one, two, names=("three", "two"), confidence=np.arange(180) % 50, collisions=result)


def ids(page: str) -> list[str]:
    return re.findall(r'\sid="([^"]*)"', page)


def text(page: str) -> str:
    return html.unescape(re.sub(r"<[^<>]*>", "", page))


def test_a_page_has_the_numbers_and_loads_nothing(report: dh.Report) -> None:
    page = dh.html_report(report, title="A title")
    for name in ("mAP", "Hit@1"):
        lower, expected, upper = (f"{100 * getattr(report[name], end):.2f}" for end in ("lower", "expected", "upper"))
        assert f"{name}{expected}\u2009%\n[{lower}, {upper}]" in text(page)  # its card
        result = report.interval(name)
        assert f"[{100 * result.lower.low:.2f}, {100 * result.upper.high:.2f}]" in text(page)
    assert report.profile.digest() in text(page)
    assert f"{report.ties.mixed_groups} tie groups" in text(page)
    assert "src=" not in page
    assert {f"#{name}" for name in ids(page)} >= set(re.findall(r'href="([^"]*)"', page))
    assert len(set(ids(page))) == len(ids(page))


def test_sections_come_with_what_they_need(report: dh.Report, full: str) -> None:
    sections = {"classes", "reject", "comparison", "collisions"}
    assert not sections & set(ids(dh.html_report(dh.evaluate(report.profile, "mAP"))))
    assert sections <= set(ids(full))
    assert "three against two" in text(full)


def test_slices_are_drawn_and_listed(report: dh.Report, other: dh.Report) -> None:
    column = np.where(LABELS < "class 10", "day", "<night>")
    for sliced, page in (
        (report.by_slice(column), dh.html_report(report, slices=report.by_slice(column))),
        (both := dh.compare(report, other).by_slice(column), dh.html_report(report, other, slices=both)),
    ):
        assert "slices" in ids(page)
        assert 'href="#slices"' in page
        assert "<night>" not in page
        rows = sliced.tables()[0].rows
        assert [row[0] for row in rows] == ["<night>", "day", "mean of slices", "all"]
        assert all(cell.replace(", ", ",\xa0") in text(page) for row in rows for cell in row)
        drawn = pages._sliced(sliced, 2)
        (first, *_), ends, level = sliced.drawn("mAP")
        ticks = {label: place for place, label in drawn["ticks"]}
        assert (level, len(ends), [each["name"] for each in drawn["bars"]]) == (
            0.95, 4, ["<night>", "day", "mean of slices", "all"],
        )  # fmt: skip
        scale = next(iter(set(ticks) - {"0"}))
        at = ticks["0"] + (ticks[scale] - ticks["0"]) * 100 * first.lower / float(scale)
        assert drawn["bars"][0]["bar"]["lower"] == pytest.approx(at, abs=0.01)


def test_markup_in_names_stays_text() -> None:
    evil = "</script><script>alert(1)</script><b>"
    labels = np.array([evil, "b"] * 30)
    report = dh.evaluate(np.arange(120).reshape(60, 2) % 7, labels, measures="mAP")
    page = dh.html_report(report, report, title=evil, names=(evil, "x"))
    assert page.count("<script>") == 1  # its own
    assert len(re.findall(r"<script\b", page)) == 1 + 2  # and the data of two tables
    assert "<b>" not in page


def test_a_grid_holds_what_the_report_says(report: dh.Report) -> None:
    page = dh.html_report(report, digits=3)
    columns = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', page)[0])
    result = report.by_class()
    assert [column["name"] for column in columns] == ["class", "queries", "mAP (%)", "Hit@1 (%)"]
    assert columns[0]["text"] == result.rows["class"]
    assert columns[2]["keys"] == [round(value, 12) for value in result.per_row["mAP"].expected.tolist()]
    written = [row[2].replace(", ", ",\xa0") for row in result.tables(digits=3)[0].rows]
    assert columns[2]["text"] == written


def test_tie_sizes_count_every_mixed_group(report: dh.Report) -> None:
    profile = report.profile
    mixed = profile.tied[profile.tied_relevant < profile.tied]
    sizes = pages.tie_sizes(profile)
    assert sum(row["groups"] for row in sizes["rows"]) == len(mixed) == sizes["groups"]
    for row in sizes["rows"]:
        low, _, high = row["sizes"].partition(" to ")
        assert row["groups"] == np.count_nonzero((mixed >= int(low)) & (mixed <= int(high or low)))


def test_differences_are_drawn_to_scale(report: dh.Report, other: dh.Report) -> None:
    comparison = dh.compare(report, other, measures="mAP, AUC")
    result = [comparison[name] for name in comparison]
    drawn = pages.differences(result)
    (first, low), (last, high) = ((place, float(text)) for place, text in (drawn["ticks"][0], drawn["ticks"][-1]))
    assert (first, last) == (0, 100)
    assert "0" in [text for _, text in drawn["ticks"]]
    for bar, one in zip(drawn["bars"], result, strict=True):
        assert (bar["name"], bar["ahead"]) == (one.name, one.ahead)
        interval = one.tested_interval
        ends = {"lower": one.lower, "expected": one.expected, "low": interval.low, "high": interval.high}
        for name, end in ends.items():
            assert 0 <= bar["bar"][name] <= 100
            assert low + (high - low) * bar["bar"][name] / 100 == pytest.approx(100 * end, abs=1e-3)
        assert (high - low) * bar["bar"]["width"] / 100 == pytest.approx(100 * (one.upper - one.lower), abs=0.01)


def test_the_verdict_is_one_sentence(report: dh.Report) -> None:
    def verdict(*reports: dh.Report, **settings: Any) -> str:
        values = re.findall(r'<p class="verdict">(.*?)</p>', dh.html_report(*reports, **settings))
        assert len(values) == 1
        return str(values[0])

    result = report["mAP"]
    width = f"{100 * (result.upper - result.lower):.2f}"
    assert verdict(report) == f"{result.summary().replace('mAP', 'mAP is')}: ties leave {width} points open."
    sure = dh.evaluate(np.random.default_rng(1).normal(size=(180, 2)), LABELS, measures="mAP", distance="euclidean")
    assert verdict(sure) == f"mAP is {100 * sure['mAP'].lower:.2f} %, and no tie affects it."
    assert verdict(dh.evaluate([[0], [1]], ["a", "a"], measures="AUC")) == "AUC is undefined: no query has a value."
    text = "new is ahead of old in MRR by 83.33 points by the lower bounds, whatever the ties do (p = 0.0002)."
    assert verdict(BETTER, WORSE, names=("new", "old")) == verdict(WORSE, BETTER, names=("old", "new")) == text
    assert verdict(BETTER, WORSE, alternative="less").startswith("No significant difference in MRR")
    assert verdict(report, report).startswith("No significant difference in mAP by the lower bounds (A − B: ")


def cards(page: str) -> list[str]:
    """The texts of the cards of the first system, and of the second, which is called two."""
    shown = text(page)
    return shown[shown.index("Results") : shown.index("Report expected [lower, upper]")].split("two\n")


def test_two_systems_have_a_row_of_cards_each(report: dh.Report, other: dh.Report, full: str) -> None:
    for shown, one in zip(cards(full), (report, other), strict=True):
        assert f"Hit@1{100 * one['Hit@1'].expected:.2f}" in shown
    first, last = ("three", "two") if report["mAP"].lower > other["mAP"].lower else ("two", "three")
    assert re.search(f"By the lower bounds of mAP, {first} .* ranks before {last}", text(full))


@pytest.mark.parametrize(
    ("first", "second", "change"),
    [
        (BETTER, WORSE, "▼ 83.33 worse"),
        (WORSE, BETTER, "▲ 83.33 better"),
        (WORSE, WORSE, "≈ no significant change"),
        (*BOUNDED, "▼ 83.33 worse"),
    ],
)
def test_the_second_system_says_how_far_it_is_from_the_first(first: Any, second: Any, change: str) -> None:
    of_a, of_b = cards(dh.html_report(first, second, names=("one", "two")))
    assert change in of_b
    assert not re.search("[▼▲≈]", of_a)


def test_the_top_says_when_of_what_and_by_what(report: dh.Report) -> None:
    about = text(dh.html_report(report, about={"data set": "words <i>", "ties": ""}))
    for row in ("data setwords <i>", "date20", "distancecosine", f"versionsdeadheat {dh.__version__}, Python 3."):
        assert row in about
    assert "tiesexact" not in about


def test_every_query_is_in_the_distribution(report: dh.Report) -> None:
    counts = pages.histogram(report["mAP"])
    assert counts.sum() == report["mAP"].n_query
    assert counts[0] == np.count_nonzero(report["mAP"].per_query.expected < 0.05)
    outline = pages.steps(np.array([1, 2]), 4)
    assert outline == "0.00,50.00 0.00,37.50 50.00,37.50 50.00,25.00 100.00,25.00 100.00,50.00"


def test_undefined_values_and_a_tolerance_are_no_trouble() -> None:
    report = dh.evaluate(EMBEDDINGS, LABELS, ties=dh.Tolerance(0.1), measures="mAP, AUC")
    lower, upper = (f"{100 * end:.2f}" for end in (report["mAP"].lower, report["mAP"].upper))
    page = dh.html_report(report, confidence=np.arange(180))
    assert f"mAP[{lower}, {upper}]\u2009%" in text(page)
    assert "nan" not in page
    single = dh.evaluate([[0], [1], [2]], ["a", "a", "b"], distance="euclidean")
    assert "without a value" in text(dh.html_report(single))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"report": 1}, TypeError, "report must be a Report, but is int"),
        ({"other": 1}, TypeError, "other must be a Report, but is int"),
        ({"collisions": 3}, TypeError, r"collisions must be what deadheat\.collisions found"),
        ({"slices": 3}, TypeError, "slices must come from by_slice, but is int"),
        ({"confidence": [1, 2]}, ValueError, "confidence must have one entry per query"),
        ({"alternative": "less"}, TypeError, "alternative goes with a second report"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dh.html_report(**{"report": BETTER} | arguments)


def test_commands_write_pages(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", embeddings=EMBEDDINGS, labels=LABELS)
    np.savez(tmp_path / "b.npz", embeddings=EMBEDDINGS[:, :2], labels=LABELS)
    np.savetxt(tmp_path / "c.txt", np.arange(180.0))
    np.save(tmp_path / "c.npy", np.arange(180))
    page = tmp_path / "page.html"
    result = []
    for name in ("c.txt", "c.npy"):
        shown = ("--html", page, "--force", "--confidence", tmp_path / name, "--collisions", 3)
        passed("evaluate", tmp_path / "a.npz", *shown)
        result.append(page.read_text())
        page.unlink()
    assert result[0] == result[1]
    assert {"reject", "collisions"} <= set(ids(result[0]))
    assert all(row in text(result[0]) for row in (f"data set{tmp_path / 'a.npz'}", "commanddeadheat"))
    passed("compare", tmp_path / "a.npz", tmp_path / "b.npz", "--html", page, "--force")
    assert "a against b" in text(page.read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--confidence", "c.txt"], "goes with --html"),
        (["--collisions", "3"], "goes with --html"),
        (["--html", "p.html", "--confidence", "none.npy"], "No such file"),
        (["--html", "p.html", "--confidence", "bad.txt"], "must hold a number for each query"),
        (["--html", "p.html", "--confidence", "short.txt"], "must have one entry per query"),
        (["--html", "p.html", "--collisions", "0"], "collisions must be"),
    ],
)
def test_what_is_wrong_is_one_line_and_no_page(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", embeddings=EMBEDDINGS, labels=LABELS)
    Path("c.txt").write_text("1\n" * 180)
    Path("bad.txt").write_text("one\n")
    Path("short.txt").write_text("1\n")
    assert message in refused("evaluate", "a.npz", *words)
    assert not Path("p.html").exists()


# In a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page; nothing may be said on its console, and nothing asked for."""
    complaints: list[str] = []

    def asked_for(request: Any) -> None:
        if not request.url.startswith("file:"):
            complaints.append(request.url)

    def show(text: str, **settings: Any) -> Any:
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        page = browser.new_page(**{"viewport": {"width": 1100, "height": 900}, **settings})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", asked_for)
        page.goto((tmp_path / "page.html").as_uri())
        return page

    yield show
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, pytest.param(1100, marks=pytest.mark.slow), 1600])
def test_a_browser_shows_it_on_screens_wide_and_small(
    shown: Callable[..., Any], full: str, scheme: str, width: int, tmp_path: Path
) -> None:
    page = shown(full, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert cut(page) == []
    folder = Path(os.environ.get("DEADHEAT_SCREENSHOTS", tmp_path))
    folder.mkdir(exist_ok=True)
    page.screenshot(path=folder / f"report-{width}-{scheme}.png", full_page=True)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", paper)))
    assert brightness > 600 if scheme == "light" else brightness < 150
    for table in page.query_selector_all("table"):  # as wide as the window, or wider in a box that scrolls
        assert table.bounding_box()["width"] >= 0.9 * width
    tops = page.eval_on_selector_all(".cards:not(.spreads)", "rows => rows.map(row => new Set("
                                     "[...row.children].map(card => card.offsetTop)).size)")  # fmt: skip
    assert tops == ([1, 1] if width > 400 else [4, 4])  # seven cards in a row, or two
    ticks = [tick.bounding_box() for tick in page.query_selector_all(".ticks span")]
    assert all(left["x"] + left["width"] < right["x"] for left, right in pairwise(ticks))
    bar = page.locator(".drawn svg").first
    assert bar.bounding_box()["width"] > 70


def cut(page: Any) -> list[str]:
    """The boxes that a reader would have to scroll."""
    result: list[str] = page.eval_on_selector_all(
        ".scroll", "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.ariaLabel)"
    )
    return result


def test_nothing_is_wider_than_a_sheet_of_paper(shown: Callable[..., Any], full: str) -> None:
    """A4 with margins of one centimetre is 718 pixels wide."""
    page = shown(full, viewport={"width": 718, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 718


def test_tables_of_seven_measures_fit_a_window_of_a_laptop(shown: Callable[..., Any], full: str) -> None:
    """No column is cut, and no bound is apart from its other."""
    page = shown(full)
    for grid in ("classes", "queries"):
        box = page.locator(f"[data-grid={grid}] .scroll")
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
        assert not [cell for cell in cells(page, grid, 4) if re.search(r", ", cell)]


def cells(page: Any, grid: str, column: int) -> list[str]:
    result: list[str] = page.locator(f"[data-grid={grid}] tbody tr td:nth-child({column})").all_text_contents()
    return result


def test_tables_sort_filter_and_turn_pages(shown: Callable[..., Any], full: str) -> None:
    page = shown(full)
    grid = page.locator("[data-grid=classes]")
    assert len(cells(page, "classes", 1)) == 25
    assert "Rows 1 to 25 of 30" in grid.locator("[role=status]").inner_text()
    grid.get_by_role("button", name="Next").click()
    assert len(cells(page, "classes", 1)) == 5
    grid.get_by_role("button", name="class").focus()
    page.keyboard.press("Enter")  # all of it works by keyboard
    assert cells(page, "classes", 1) == sorted(set(LABELS.tolist()))[:25]
    assert grid.locator("th[aria-sort=ascending]").count() == 1
    page.keyboard.press("Enter")
    assert cells(page, "classes", 1)[0] == "class 29"
    grid.get_by_label("Filter").fill("CLASS 07")
    assert cells(page, "classes", 1) == ["class 07"]
    grid.get_by_label("Filter").fill("none of them")
    assert "No row of 30 fits" in grid.locator("[role=status]").inner_text()


def test_numbers_sort_as_numbers_and_what_is_undefined_comes_last(shown: Callable[..., Any]) -> None:
    labels = np.array(["a"] * 9 + ["b"] * 100 + ["c"])
    embeddings = np.random.default_rng(0).integers(0, 4, (110, 3))
    page = shown(dh.html_report(dh.evaluate(embeddings, labels, measures="mAP", distance="euclidean")))
    for _ in range(2):
        page.locator("[data-grid=classes]").get_by_role("button", name="queries").click()
    assert cells(page, "classes", 2) == ["100", "9", "1"]
    for _ in range(2):
        page.locator("[data-grid=classes]").get_by_role("button", name="mAP").click()
        assert cells(page, "classes", 1)[-1] == "c"


def test_the_first_key_skips_the_links_and_print_has_no_controls(shown: Callable[..., Any], full: str) -> None:
    page = shown(full)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.emulate_media(media="print")
    parts = [".controls", "nav", "[data-grid=classes] tbody"]
    assert [page.locator(part).first.is_visible() for part in parts] == [False, False, True]


@pytest.mark.slow
def test_a_page_of_many_queries_opens_at_once(shown: Callable[..., Any]) -> None:
    n = 60_000
    at, none, one = np.arange(n), np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    profile = dh.TieProfile(np.arange(n + 1), at % 97, none, 1 + at % 3, one, 1000 * one, one)
    text = dh.html_report(dh.evaluate(profile, labels=at // 4))
    assert len(text) < 6_000_000
    page = shown(text)
    ready = page.evaluate("performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart")
    assert ready < 5_000  # well under 1,000 where the machine does nothing else
    assert "Rows 1 to 25 of 10000" in page.locator("[data-grid=classes] [role=status]").inner_text()


def test_a_page_names_the_units_of_its_intervals_and_warns_of_few() -> None:
    labels = np.arange(40) % 5
    report, other = (dh.evaluate(np.random.default_rng(seed).normal(size=(40, 3)), labels) for seed in (0, 1))
    few = "Only 5 classes: with fewer than about 10 neither intervals nor p-values can be trusted."
    page = dh.html_report(report)
    assert "<p>95 % intervals: percentile, over 5 classes.</p>" in page
    assert f"<p>{few}</p>" in page
    assert dh.html_report(report, other).count(f"<p>{few}</p>") == 2  # of the means, and of the comparison


def ranked(ends: list[tuple[int, int]]) -> dh.Report:
    """A report on queries with one relevant item each, in a group of so many tied items behind so many others."""
    groups = [[(closer, 0, tied, 1)] for closer, tied in ends]
    return dh.evaluate(dh.TieProfile.from_groups(groups, n_ranked=[20] * len(ends)), "MRR")


def test_who_is_called_ahead_agrees_with_the_interval_that_is_drawn_or_says_why() -> None:
    """In the first, A is ahead on average, while an interval round both bounds holds 0."""
    tied = dh.compare(ranked([(0, 6)] * 9), ranked([(3, 1)] * 5 + [(4, 1)] * 4), by="expected")["MRR"]
    sure = dh.compare(ranked([(0, 1)] * 9), ranked([(3, 1)] * 5 + [(4, 1)] * 4))["MRR"]
    few = dh.compare(ranked([(0, 1)] * 5), ranked([(3, 1)] * 3 + [(4, 1)] * 2))["MRR"]
    both = tied.interval()
    assert both.lower.low < 0 < both.upper.high
    for result, ahead, but in ((tied, "A", ", not for every tie-breaking"), (sure, "A", ""), (few, None, "")):
        (bar,) = pages.differences([result])["bars"]
        assert (bar["ahead"], bar["but"]) == (ahead, but)
    zero = {text: place for place, text in pages.differences([tied])["ticks"]}["0"]
    (bar,) = pages.differences([tied])["bars"]
    assert bar["bar"]["low"] > zero
    assert not few.interval_agrees  # the interval of five equal signs does not hold 0, and no swap is significant
