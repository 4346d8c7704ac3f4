"""The built site: no dead link, nothing from elsewhere; in a browser no error, for keyboard, phone and dark too.

And what `mkdocs_hooks.py` adds: llms.txt, addresses, one entry for parameters that are described together.
"""

from __future__ import annotations

import functools
import http.server
import os
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

import deadheat

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HOST = "http://site.test/"
WORDS = {  # that people search for, and a page that must be found
    "mAP−": "ties/",
    "multi-label": "how-to/several-labels/",
    "Recall@1": "faq/",
    "sparse": "how-to/sparse/",
    "Codabench": "how-to/competition/",
    "hashing": "how-to/hash-codes/",
    "word spotting": "studies/words/",
    "leave one out": "glossary/",
    "confidence interval": "how-to/statistics/",
    "pip install": "installation/",
    "evaluate": "api/evaluating/",
    "exclude": "api/profiles/",
    "agent memory": "how-to/rag/",
    "RAG": "how-to/rag/",
    "LongMemEval": "how-to/hits-and-columns/",
    "GPU": "how-to/gpu/",
    "CUDA": "how-to/gpu/",
    "Matryoshka": "how-to/matryoshka/",
    "model card": "how-to/loggers/",
    "ann-benchmarks": "how-to/ground-truth/",
    **dict.fromkeys(("verification", "face", "speaker", "EER", "ROC"), "how-to/verification/"),
}
BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict"]  # with --quiet, no warning is counted
_LOADS = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The targets and links of a page, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.ids, self.links, self.loaded = text, set[str](), set[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        for name in {"href", "src"} & {*given}:
            loads = (tag, name) in _LOADS and given.get("rel") != "canonical"
            (self.loaded if loads else self.links).add(given[name])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors."""
    for module in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(module, reason="building the site needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, "--site-dir", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def build(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run([*BUILD, *options], cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Every page by its address on the site."""
    paths = {path.relative_to(site).as_posix().removesuffix("index.html"): path for path in site.rglob("*.html")}
    assert len(paths) > 30
    return {address: Page(path.read_text(encoding="utf-8")) for address, path in paths.items()}


def test_a_warning_stops_the_builder(tmp_path: Path) -> None:
    """The commands that build the site, here and in CI, can fail."""
    pytest.importorskip("mkdocs", reason="building the site needs the extra docs")
    (tmp_path / "mkdocs.yml").write_text("site_name: broken\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[nowhere](nowhere.md)\n")
    done = build(tmp_path)
    assert done.returncode == 1
    assert "Aborted with 1 warnings in strict mode!" in done.stderr + done.stdout
    files = (".ci/run", ".github/workflows/tests.yml", ".github/workflows/release.yml", "CONTRIBUTING.md")
    for path in filter(Path.exists, (ROOT / file for file in files)):  # a source distribution has only the last
        commands = re.findall(r"mkdocs build[^#`\n]*", path.read_text(encoding="utf-8"))
        assert [command.strip() for command in commands] == [" ".join(BUILD[2:])], path


def test_no_link_is_dead_or_loads_from_another_host(site: Path, pages: dict[str, Page]) -> None:
    dead = []
    for address, page in pages.items():
        for link in page.links | page.loaded:
            target, fragment = urldefrag(urljoin(HOST + ("" if address == "404.html" else address), link))
            path = unquote(urlsplit(target).path.lstrip("/"))
            exists = path in pages or (site / path).is_file()
            named = not fragment or path not in pages or unquote(fragment) in pages[path].ids | {"__top"}
            if target.startswith(HOST) and not (exists and named):
                dead.append(f"{address}: {link}")
    assert dead == []
    assert {link for page in pages.values() for link in page.loaded if urlsplit(link).netloc} == set()
    styles = [path.read_text(encoding="utf-8") for path in (site / "assets").rglob("*.css")]
    assert [text for text in styles if re.search(r"""@import|url\(["']?http""", text)] == []


def test_pages_have_one_heading_and_docstrings_their_sections(pages: dict[str, Page]) -> None:
    """Notes and references follow the exceptions, and are not listed as exceptions."""
    assert [address for address, page in pages.items() if page.text.count("<h1") != 1 and address != "404.html"] == []
    text = "".join(page.text for address, page in pages.items() if address.startswith("api/"))
    assert re.findall(r"<code>(?:\d+\. |\*\*[A-Z]).*", text) == []
    assert [name for name in ("note", "references", "see-also") if f'<details class="{name}" open>' not in text] == []


def test_every_page_of_the_navigation_is_in_llms_txt(site: Path, pages: dict[str, Page]) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# deadheat\n\n> ")
    listed = re.findall(r"^- \[.+\]\(([^)]*)\): (.*)$", text, re.MULTILINE)
    assert {address for address, _ in listed} == {*pages} - {"404.html"}
    assert [address for address, about in listed if len(about) < 20] == []


def hooks() -> dict[str, Any]:
    pytest.importorskip("griffe", reason="the hooks of the site need mkdocstrings")
    return runpy.run_path(str(ROOT / "mkdocs_hooks.py"))


def test_the_site_has_its_addresses_once_they_are_filled_in() -> None:
    urls = {name: f"https://git.test/someone/{name}" for name in ("Documentation", "Source", "Issues")}
    filled = hooks()["with_addresses"]({"site_url": "", "extra": {}}, urls)
    assert filled["site_url"] == urls["Documentation"]
    assert [link["link"] for link in filled["extra"]["social"]] == [urls["Source"], urls["Issues"]]
    empty = {"site_url": "", "extra": {}}
    assert hooks()["with_addresses"](dict(empty), {"Source": "https://git.test/OWNER/x"}) == empty


def test_parameters_that_are_described_together_are_one_entry(site: Path) -> None:
    """griffe alone repeats the description, and gives all of them the default of the first."""
    griffe = pytest.importorskip("griffe", reason="the hooks of the site need mkdocstrings")
    docstring = "Do.||Parameters|----------|a : int|    One.|b, c : int|    Two.|c, d : str|    Three.|"
    code = f"def f(a, b=1, c=1, d=2):|'''{docstring}'''".replace("|", "\n    ")
    numpydoc = griffe.load_extensions(hooks()["Numpydoc"]())
    module = griffe.visit("m", Path("m.py"), code, extensions=numpydoc, docstring_parser="numpy")
    (parameters,) = [section for section in module["f"].docstring.parsed if section.kind.value == "parameters"]
    assert [(entry.name, entry.value, entry.description) for entry in parameters.value] == [
        ("a", None, "One."),
        ("b, c", "1", "Two."),
        ("c, d", None, "Three."),
    ]


def test_public_functions_are_in_the_reference(pages: dict[str, Page]) -> None:
    documented = {name for address, page in pages.items() if address.startswith("api/") for name in page.ids}
    wanted = {f"deadheat.{name}" for name in deadheat.__all__ if name != "measures"}  # measures have their own page
    assert wanted | {"deadheat.Report.interval", "deadheat.analyses.difference.Difference"} <= documented
    index = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    listed = {f"deadheat.{name}" for name in re.findall(r"(\w+)`", index)}
    assert {name for name in wanted if name.rpartition(".")[2].islower()} <= listed


# In a browser


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site, served on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def view(browser: Any) -> Iterator[Any]:
    """A window of a screen."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    yield page
    page.close()


def test_pages_fit_screens_and_phones_and_none_has_an_error_or_asks_another_host(
    view: Any, address: str, pages: dict[str, Page]
) -> None:
    """No code or table has to be scrolled to at 1280 pixels, and nothing is wider than a phone; each is loaded once."""
    problems: list[str] = []
    ours = (address, "data:", "blob:")
    view.on("console", lambda line: problems.append(f"{view.url}: {line.text}") if line.type == "error" else None)
    view.on("pageerror", lambda error: problems.append(f"{view.url}: {error}"))
    view.on("request", lambda request: None if request.url.startswith(ours) else problems.append(request.url))
    for page in sorted(pages):
        view.set_viewport_size({"width": 1280, "height": 800})
        view.goto(address + page, wait_until="load")
        clipped = view.evaluate(
            """() => [...document.querySelectorAll(".md-content pre > code, .md-content table")]
                .map(each => each.closest(".md-typeset__scrollwrap") || each)
                .filter(each => each.scrollWidth > each.clientWidth + 1)
                .map(each => each.innerText.slice(0, 40))"""
        )
        problems += [f"{page}: {text}" for text in clipped]
        view.set_viewport_size({"width": 390, "height": 844})
        wide = view.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        problems += [f"{view.url}: {wide} pixels wider than a phone"] if wide > 0 else []
    assert problems == []


def test_the_first_tab_skips_to_the_content_and_focus_is_seen(view: Any, address: str) -> None:
    view.goto(address + "tutorial/")
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement.matches('.md-skip')")
    reached = set()
    for _ in range(12):
        view.keyboard.press("Tab")
        focused = view.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        assert view.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", focused
        reached.add(focused)
    assert len(reached) > 8


@pytest.mark.parametrize(("words", "page"), WORDS.items())
def test_search_finds_a_page(view: Any, address: str, words: str, page: str) -> None:
    """Among the first five."""
    view.goto(address)
    view.keyboard.press("/")
    view.keyboard.type(words)
    view.wait_for_selector(".md-search-result__item a", timeout=15_000)
    links = [link.get_attribute("href") for link in view.query_selector_all(".md-search-result__item > a")]
    assert page in [*dict.fromkeys(urlsplit(link).path.lstrip("/") for link in links)][:5]


def test_the_button_of_a_session_copies_the_code_alone(view: Any, address: str) -> None:
    view.goto(address)
    copied = view.evaluate("""() => {
        const session = document.querySelector(".language-pycon code");
        session.setAttribute("data-md-copying", "");  // as the theme does before it reads the text
        return session.innerText;
    }""")
    assert copied.startswith("import numpy as np\nimport deadheat as dh\n")
    assert "mAP  " not in copied
    assert ">>>" not in copied
    assert view.query_selector(".language-pycon .md-clipboard, .language-pycon .md-code__button").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(view: Any, address: str, scheme: str) -> None:
    """Contrast of text and links with the page, at least 4.5 as WCAG 2 asks; the scheme is the system's."""
    view.emulate_media(color_scheme=scheme)
    view.goto(address + "faq/")
    page, *texts = view.evaluate(
        """() => [["body", "backgroundColor"], [".md-content p", "color"], [".md-content p a", "color"]].map(part => {
            const draw = document.createElement("canvas").getContext("2d");
            for (draw.fillStyle of ["white", getComputedStyle(document.querySelector(part[0]))[part[1]]])
                draw.fillRect(0, 0, 1, 1);
            const linear = [...draw.getImageData(0, 0, 1, 1).data].slice(0, 3)
                .map(value => value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];  // relative luminance of sRGB
        })"""
    )
    assert (page < 0.2) == (scheme == "dark")
    assert all((max(page, text) + 0.05) / (min(page, text) + 0.05) >= 4.5 for text in texts)
