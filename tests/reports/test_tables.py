"""The shape of every result, on one whose cells hold what Markdown, LaTeX and HTML would read as their own."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.reports import tables
from deadheat.reports.tables import Table, TabularResult, plain


class Prices(TabularResult):
    def __init__(self, *names: str) -> None:
        self.names = names

    def tables(self, *, unit: str = "%") -> list[Table]:
        return [Table([f"name_1 ({unit})", "share"], [[name, "50.0"] for name in self.names])]

    def notes(self) -> list[str]:
        return ["1 < 2.", "Done."]

    def to_dict(self, *, unit: str = "%") -> dict[str, Any]:
        return {unit: plain({name: (np.float64(0.5), math.nan) for name in self.names})}

    def columns(self) -> dict[str, list[Any]]:
        return {"name": list(self.names), "share": [0.5] * (len(self.names) - 1) + [math.nan]}


def test_text_has_tables_and_notes() -> None:
    assert str(Prices("a|b", "longer name")) == (
        "name_1 (%)   share\na|b           50.0\nlonger name   50.0\n\n1 < 2.\nDone."
    )
    assert Prices("a").to_text(unit="$").startswith("name_1 ($)  share")
    assert Prices("a|b").to_markdown().splitlines()[2:] == [r"| a\|b         |    50.0 |", "", "1 < 2.", "Done."]


def test_latex_escapes_its_commands() -> None:
    lines = Prices("50 % of_a & <b>").to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert " ".join(lines[2].split()) == r"name\_1 (\%) & share \\"
    assert " ".join(lines[4].split()) == r"50 \% of\_a \& \ensuremath{<}b\ensuremath{>} & 50.0 \\"
    assert lines[-1] == r"\end{tabular}"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y>"),
        ("<!-- a", "&lt;!-- a"),
        ("&lt;b&gt; R&D", "&amp;lt;b&amp;gt; R&D"),
        ("![a](http://b.test)", r"![a]\(http://b.test)"),
        ("[a][b] [a]: c", r"[a]\[b] [a]\: c"),
        ("`a` *b*", r"\`a\` \*b\*"),
        ("__a_b__ iprec_at_recall", r"\_\_a_b\_\_ iprec_at_recall"),
        (r"a\|b", r"a\\\|b"),
        ("a\n| b |", r"a\\n\| b \|"),
        ("1 < 2 [3.0, 4.0]", "1 < 2 [3.0, 4.0]"),
    ],
)
def test_markdown_interprets_no_name(name: str, shown: str) -> None:
    lines = Prices(name).to_markdown().splitlines()
    assert lines[2].removeprefix("| ").partition(" |    50.0 ")[0].rstrip() == shown
    assert len(lines) == 6

    class Named(Prices):
        def notes(self) -> list[str]:
            return list(self.names)

    assert Named(name).to_markdown().splitlines()[-1] == shown


def test_html_escapes_tags_in_cells_and_notes() -> None:
    page = Prices("<script>", "a & b")._repr_html_()
    assert "<script>" not in page
    assert all(text in page for text in ("&lt;script&gt;", "a &amp; b"))
    assert page.endswith("<p>1 &lt; 2.</p><p>Done.</p></div>")


def test_a_table_without_rows() -> None:
    assert str(Prices()) == "name_1 (%)  share\n\n1 < 2.\nDone."
    assert Prices().to_markdown().startswith("| name_1 (%)   | share   |\n")
    assert Prices().to_latex().count("&") == 1


def test_json_holds_plain_values() -> None:
    about = {"deadheat": dh.__version__, "schema": 1}
    assert json.loads(Prices("a").to_json(unit="$")) == about | {"$": {"a": [0.5, None]}}
    assert plain({"n": np.int64(3), "rows": np.array([1.0, np.nan]), "name": "x", "none": None}) == {
        "n": 3, "rows": [1.0, None], "name": "x", "none": None,
    }  # fmt: skip


@pytest.mark.parametrize("installed", [("pandas", "polars"), ("polars",)])
def test_a_frame_is_that_of_the_first_library_installed(
    installed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("narwhals", *installed):
        pytest.importorskip(module)
    monkeypatch.setattr(tables, "find_spec", lambda name: name in installed or None)
    for library, frame in (
        (installed[0], Prices("a", "b").to_pandas()), ("polars", Prices("a", "b").to_polars())
    ):  # fmt: skip
        assert type(frame).__module__.split(".")[0] == library
        assert (list(frame.columns), list(frame["name"])) == (["name", "share"], ["a", "b"])
        np.testing.assert_array_equal(list(frame["share"]), [0.5, math.nan])


def test_arrow_has_nan_as_every_other_form() -> None:
    pytest.importorskip("pyarrow")
    share = Prices("a", "b").to_arrow()["share"]
    assert share.null_count == 0
    assert math.isnan(share[1].as_py())


@pytest.mark.parametrize(
    ("form", "missing", "message"),
    [
        ("to_pandas", "libraries", "a data frame needs pandas or polars: pip install pandas"),
        ("to_polars", "libraries", "a data frame of Polars needs polars: pip install polars"),
        ("to_pandas", "narwhals", "a data frame needs narwhals: pip install 'deadheat[frames]'"),
        ("to_arrow", "pyarrow", "a table of Arrow needs pyarrow: pip install 'deadheat[files]'"),
        ("__arrow_c_stream__", "pyarrow", "a table of Arrow needs pyarrow: pip install 'deadheat[files]'"),
    ],
)
def test_what_is_not_installed_is_named(form: str, missing: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "find_spec", lambda name: None if missing == "libraries" else True)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError) as caught:
        getattr(Prices("a"), form)()
    assert str(caught.value) == message
