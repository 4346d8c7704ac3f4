"""The forms of every result, on one with columns of each shape and names that Markdown, LaTeX and HTML would read."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.reports import answer
from deadheat.reports.answer import Answer, Caution, Column, Panel
from deadheat.reports.statistics.intervals import Interval
from deadheat.reports.tables import plain
from deadheat.support.triple import Triple

NOTES = ["1 < 2.", "Few units."]
TIED, ALONE = Triple(0.25, 0.5, 1.0), Triple(0.5, 0.5, 0.5)


class Shares(Answer):
    """The share of each name, NaN for the name "unknown"."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def panels(self, *, unit: str = "%") -> list[Panel]:
        names = Column("name", self.names, title=f"name_1 ({unit})")
        shares = [math.nan if name == "unknown" else 0.5 for name in self.names]
        return [Panel([names, Column("share", shares, "fraction")], key="shares")]

    def notes(self) -> list[str]:
        return [NOTES[0], Caution(NOTES[1])]

    def facts(self) -> dict[str, Any]:
        return {"n": len(self.names)}


class Systems(Answer):
    """Two systems with columns of all shapes, a panel for each value of `tasks`."""

    def __init__(self, *tasks: str, results: tuple[Any, Any] = (TIED, ALONE)) -> None:
        self.tasks, self.results = tasks, results

    def panels(self) -> list[Panel]:
        columns = [
            Column("rank", ["1~", "2 "], only="table"),
            Column("system", ["a", "b"]),
            Column("mAP", self.results, "fraction", shape="value", marks=["ᵇ", ""]),
            Column("", [Interval(0.25, 0.75), Interval(math.nan, math.nan)], "fraction", "95 % interval", "interval"),
            Column("p", [1e-5, 0.25], "probability"),
            Column("speed", [1.0, None], "number", "queries/s", unit="1/s", form=",.0f"),
            Column("n_query", [3, 4], "count", only="data"),
        ]
        made = [Panel(columns, "each", key="", of=("task", task)) for task in self.tasks]
        return made or [Panel(columns, "each", key="systems", by_name=False, drawn=True)]

    def notes(self) -> list[str]:
        return ["Ranked by mAP, not by mAP@10. ᵇ: ahead of b."]


def test_text_has_tables_and_notes() -> None:
    assert str(Shares("a|b", "longer name")) == (
        "name_1 (%)   share\na|b          50.00\nlonger name  50.00\n\n1 < 2.\nFew units."
    )
    assert Shares("a").to_text(unit="$", digits=0).startswith("name_1 ($) (%)  share\na                  50")
    assert Shares("a|b").to_markdown().splitlines()[2:] == [r"| a\|b         |   50.00 |", "", *NOTES]


def test_latex_escapes_its_commands_and_has_the_notes() -> None:
    lines = Shares("50 % of_a & <b>").to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert " ".join(lines[2].split()) == r"name\_1 (\%) & share \\"
    assert " ".join(lines[4].split()) == r"50 \% of\_a \& \ensuremath{<}b\ensuremath{>} & 50.00 \\"
    assert lines[-5:] == [r"\end{tabular}", "", r"{\footnotesize", r"1 \ensuremath{<} 2.", r"Few units.\par}"]


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
def test_markdown_interprets_no_name(name: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shares, "notes", lambda self: list(self.names))
    lines = Shares(name).to_markdown().splitlines()
    assert lines[2].removeprefix("| ").partition(" |   50.00 ")[0].rstrip() == lines[-1] == shown
    assert len(lines) == 5


def test_html_escapes_tags_in_cells_and_notes() -> None:
    page = Shares("<script>", "a & b")._repr_html_()
    assert "<script>" not in page
    assert all(text in page for text in ("&lt;script&gt;", "a &amp; b"))
    assert page.endswith("<p>1 &lt; 2.</p><p>Few units.</p></div>")


def test_a_table_without_rows() -> None:
    assert str(Shares()) == "name_1 (%)  share\n\n1 < 2.\nFew units."
    assert Shares().to_markdown().startswith("| name_1 (%)   | share   |\n")
    assert Shares().to_latex().count("&") == 1


def test_json_has_plain_values_units_and_notes() -> None:
    assert json.loads(Shares("a", "unknown").to_json()) == {
        "deadheat": dh.__version__, "schema": 1, "n": 2, "shares": {"a": {"share": 0.5}, "unknown": {"share": None}},
        "units": {"share": "fraction"}, "notes": NOTES, "cautions": NOTES[1:],
    }  # fmt: skip
    assert plain({"n": np.int64(3), "rows": np.array([1.0, np.nan]), "name": "x", "none": None}) == {
        "n": 3, "rows": [1.0, None], "name": "x", "none": None,
    }  # fmt: skip


def test_each_shape_of_a_column_in_text_and_data() -> None:
    assert str(Systems()).splitlines()[:3] == [
        "rank  system                 mAP (%)   95 % interval       p  queries/s",
        "1~         a  50.00 [25.00, 100.00]ᵇ  [25.00, 75.00]   1e-05          1",
        "2          b                  50.00                -  0.2500          -",
    ]
    content = Systems().to_dict()
    assert content["systems"][0] == {
        "system": "a", "mAP": TIED._asdict(), "interval": [0.25, 0.75], "p": 1e-5, "speed": 1.0, "n_query": 3,
    }  # fmt: skip
    assert content["systems"][1]["interval"] == [None, None]
    fractions = ("mAP_lower", "mAP_expected", "mAP_upper", "low", "high")
    others = {"p": "probability", "speed": "1/s", "n_query": "count"}
    assert content["units"] == dict.fromkeys(fractions, "fraction") | others
    assert list(Systems().columns()) == ["system", *content["units"]]
    assert Systems()._repr_html_().count("<svg") == 2
    assert r"50.00 [25.00, 100.00]\textsuperscript{b}" in Systems().to_latex()


def test_lower_and_upper_differ_where_they_are_printed() -> None:
    close = Systems(results=(Triple(0.25, 0.250001, 0.250002), ALONE))
    assert str(close).splitlines()[1] == (
        "1~         a  25.0001 [25.0000, 25.0002]ᵇ  [25.0000, 75.0000]   1e-05          1"
    )


def test_frames_have_the_rows_of_all_panels() -> None:
    two = Systems("x", "y")
    assert len(two.tables()) == 2
    assert two.columns()["task"] == ["x", "x", "y", "y"]
    assert two.columns()["mAP_lower"] == [0.25, 0.5] * 2
    assert "systems" not in two.to_dict()


def test_measures_are_renamed_in_tables_and_notes() -> None:
    text = Systems().to_text(names={"mAP": "Mean AP"})
    assert "Mean AP (%)" in text
    assert text.endswith("Ranked by Mean AP, not by mAP@10. ᵇ: ahead of b.")
    assert "Mean AP" in Systems().to_latex(names={"mAP": "Mean AP"})
    with pytest.raises(ValueError, match=r"^names must rename measures of the table, but has 'AP'$"):
        Systems().to_text(names={"AP": "x"})
    with pytest.raises(
        TypeError, match=r"^names must be a dictionary from measures to the names to show, but is 'mAP'"
    ):
        Systems().to_text(names="mAP")


@pytest.mark.parametrize("installed", [("pandas", "polars"), ("polars",)])
def test_a_frame_is_that_of_the_first_library_installed(
    installed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("narwhals", *installed):
        pytest.importorskip(module)
    monkeypatch.setattr(answer, "find_spec", lambda name: name in installed or None)
    result = Shares("a", "unknown")
    for library, frame in ((installed[0], result.to_pandas()), ("polars", result.to_polars())):
        assert type(frame).__module__.split(".")[0] == library
        assert (list(frame.columns), list(frame["name"])) == (["name", "share"], ["a", "unknown"])
        np.testing.assert_array_equal(list(frame["share"]), [0.5, math.nan])
        assert library == "polars" or frame.attrs == {"units": {"share": "fraction"}, "notes": NOTES}


def test_arrow_has_nan_units_and_notes() -> None:
    pytest.importorskip("pyarrow")
    table = Shares("a", "unknown").to_arrow()
    assert table["share"].null_count == 0
    assert math.isnan(table["share"][1].as_py())
    about = {key.decode(): json.loads(value) for key, value in table.schema.metadata.items()}
    assert about == {"units": {"share": "fraction"}, "notes": NOTES}


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
    monkeypatch.setattr(answer, "find_spec", lambda name: None if missing == "libraries" else True)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError) as caught:
        getattr(Shares("a"), form)()
    assert str(caught.value) == message
