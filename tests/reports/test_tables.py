"""The shape of every result, on one whose cells hold what Markdown, LaTeX and HTML would read as their own."""

from __future__ import annotations

import json
import math
import subprocess
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


def test_html_escapes_tags_in_cells_and_notes() -> None:
    page = Prices("<script>", "a & b")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
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


@pytest.mark.parametrize("library", tables.FRAMES)
def test_a_frame_is_that_of_the_library_that_is_installed(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("narwhals")
    pytest.importorskip(library)
    monkeypatch.setattr(tables, "find_spec", lambda name: name == library or None)
    frame = Prices("a", "b").to_pandas()
    assert type(frame).__module__.split(".")[0] == library
    assert list(frame.columns) == ["name", "share"]
    assert list(frame["name"]) == ["a", "b"]
    assert frame["share"][0] == 0.5
    assert math.isnan(frame["share"][1])


def test_pandas_comes_before_polars() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    assert isinstance(Prices("a").to_pandas(), pandas.DataFrame)


def test_a_frame_without_a_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("narwhals")
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"^a data frame needs pandas or polars: pip install pandas$"):
        Prices("a").to_pandas()


def test_polars_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("narwhals")
    polars = pytest.importorskip("polars")
    frame = Prices("a", "b").to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame["name"].to_list() == ["a", "b"]
    assert math.isnan(frame["share"][1])
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"^a data frame of Polars needs polars: pip install polars$"):
        Prices("a").to_polars()


def test_arrow_needs_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    share = Prices("a", "b").to_arrow()["share"]
    assert share.null_count == 0  # NaN, as in every other form
    assert math.isnan(share[1].as_py())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = r"^a table of Arrow needs pyarrow: pip install 'deadheat\[files\]'$"
    for form in (Prices("a").to_arrow, Prices("a").__arrow_c_stream__):
        with pytest.raises(ModuleNotFoundError, match=said):
            form()


def test_a_frame_without_narwhals_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['narwhals'] = None\n"
        "import deadheat as dh\n"
        "report = dh.measure(dh.TieProfile.from_groups([[(0, 0, 1, 1)]], n_ranked=[1]), 'mAP')\n"
        "try: report.to_pandas()\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "a data frame needs narwhals: pip install 'deadheat[frames]'\n"
