"""A run as a picture: seconds next to other programs', ratios next to targets, how time grows, how threads share it.

Whether a target is met is shown by the colour (blue and vermilion, which colour-blind people distinguish), by the
shape of the mark and by the text at the right, so that it survives a grey printer.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.targets import Target
from benchmarks.threads import amdahl

_BLUE, _VERMILION, _GREY, _INK = "#0072B2", "#D55E00", "#7F7F7F", "#1A1A1A"
_LOOK = {True: (_BLUE, "o", "target met"), False: (_VERMILION, "X", "target missed"), None: (_GREY, "s", "no target")}
_LEAST = 1e-3  # where 0 is drawn on a logarithmic axis
_ROW, _TOP = 0.2, 1.1  # inches of a line of the chart, and of what is above and below all lines
_CURVES = 3.6  # inches of each part with curves
_BARS = 0.45  # inches of the two bars of another program and `evaluate`

Rows = list[dict[str, Any]]


def draw(record: dict[str, Any], path: Path) -> None:
    """Draw a run, as `results.run_record` gives it, into a file whose ending says the format."""
    rows = [row for row in record["rows"] if row["figure"] is not None]
    curves = {unit: [row for row in rows if row["unit"] == unit] for unit in ("times", "exponent")}
    rivals = [row for row in rows if row["section"] == "rivals"]
    ratios = [row for row in rows if row["section"] != "rivals" and row["unit"] not in curves]
    ratios = [row for row in ratios if row["is_ratio"] or row["target"]]
    n_line = len(ratios) + 2 * len({row["section"] for row in ratios})
    heights = [_BARS * len(rivals)] * bool(rivals) + [max(1.5, _ROW * n_line)] * bool(ratios)
    heights += [_CURVES] * sum(map(bool, curves.values()))
    width = 6.5 if len(rivals) == len(rows) else 9.0  # few bars, to be read on a phone
    figure = Figure(figsize=(width, sum(heights) + _TOP * max(1, len(heights))), layout="constrained")
    FigureCanvasAgg(figure)
    parts = iter(figure.subfigures(max(1, len(heights)), 1, height_ratios=heights or None, squeeze=False)[:, 0])
    if rivals:
        _seconds(next(parts).subplots(), rivals)
    if ratios:
        _ratios(next(parts).subplots(), ratios)
    for unit, curve in (("times", _scaling), ("exponent", _growth)):
        if curves[unit]:
            axes = next(parts).subplots(1, len(curves[unit]), squeeze=False, sharey=unit == "times")[0]
            for axis, row in zip(axes, curves[unit], strict=True):
                curve(axis, row)
    if not heights:
        figure.text(0.5, 0.5, "nothing was measured", ha="center")
    figure.suptitle(_title(record), fontsize=9, color=_INK)
    figure.savefig(path, dpi=160)


def _title(record: dict[str, Any]) -> str:
    scale = "" if record["scale"] == 1 else f", scaled by {record['scale']:g}: a smoke run"
    return (
        f"deadheat.evaluate against its yardsticks, median of {record['repeats']}{scale}\n"
        f"{record['machine']['processor']}, {record['threads']} threads, "
        f"deadheat {record['versions']['deadheat']}, NumPy {record['versions']['numpy']}"
    )


def _seconds(axis: Axes, rows: Rows) -> None:
    """Two bars a row, the other program's and that of `evaluate`, with the seconds at their ends."""
    for key, colour, offset, label in (
        ("yardstick_value", _GREY, -0.19, "the other program"),
        ("value", _BLUE, 0.19, "dh.evaluate, with bounds"),
    ):
        bars = axis.barh([line + offset for line in range(len(rows))], [row[key] for row in rows], 0.36, color=colour)
        bars.set_label(label)
        axis.bar_label(bars, fmt="%.3g s", padding=3, size=8, color=_INK)
    axis.set_yticks(range(len(rows)), labels=[row["short_name"].replace(" ", "\n", 1) for row in rows], size=8)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.margins(x=0.12)
    axis.set_xlabel("seconds (less is better)", size=8)
    axis.tick_params(axis="x", labelsize=7)
    axis.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=8, borderaxespad=0.2)


def _ratios(axis: Axes, rows: Rows) -> None:
    """One line a case: a mark at its ratio, the range of the single ratios, a tick at its target."""
    line, names = 0.0, []
    right = axis.get_yaxis_transform()
    for section, members in groupby(rows, key=lambda row: row["section"]):
        line += 1
        axis.text(-0.01, line, section, transform=right, ha="right", va="center", weight="bold", size=8, color=_INK)
        for row in members:
            line += 1
            _one_ratio(axis, line, row)
            names.append((line, row["short_name"]))
            figure = f"{'> ' * row['stopped']}{_place(row, row['figure']):.2f}"
            axis.text(
                1.01, line, f"{figure}  {row['outcome']}", transform=right, va="center", size=7,
                color=_LOOK[row["met"]][0], weight="bold" if row["met"] is False else "normal",
            )  # fmt: skip
        line += 0.5
    for at, name in names:
        axis.text(-0.01, at, name, transform=right, ha="right", va="center", size=7, color=_INK)
    axis.set_yticks([at for at, _ in names], labels=[])
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(line + 0.5, 0)
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.axvline(1, color=_INK, linewidth=0.6, linestyle=":", zorder=0)
    axis.grid(axis="both", color="#E5E5E5", linewidth=0.5)
    axis.set_axisbelow(True)
    axis.set_xlabel("ratio to the yardstick, or share of what is allowed (less is better; logarithmic)", size=8)
    axis.tick_params(axis="x", labelsize=7)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    _legend(axis, rows)


def _place(row: dict[str, Any], figure: float) -> float:
    """Return where a figure stands: a ratio where it is, and any other as a share of its limit."""
    return max(_LEAST, figure if row["is_ratio"] else figure / row["target"]["limit"])


def _one_ratio(axis: Axes, line: float, row: dict[str, Any]) -> None:
    colour, marker, _ = _LOOK[row["met"]]
    figure = _place(row, row["figure"])
    if row["target"] is not None:
        target = _place(row, row["target"]["limit"])
        axis.plot([figure, target], [line, line], color=colour, linewidth=1.2, alpha=0.5, solid_capstyle="butt")
        axis.plot([target], [line], marker="|", color=_INK, markersize=9, markeredgewidth=1.8)
    if "lowest_ratio" in row["details"]:
        deviation = [row["details"]["lowest_ratio"], row["details"]["highest_ratio"]]
        axis.plot(deviation, [line, line], color=colour, linewidth=2.6, alpha=0.35, solid_capstyle="round")
    axis.plot([figure], [line], marker=marker, color=colour, markersize=5.5, linestyle="none")


def _legend(axis: Axes, rows: Rows) -> None:
    marks = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", markersize=5.5, label=label)
        for met, (colour, marker, label) in _LOOK.items()
        if any(row["met"] is met for row in rows)
    ]
    target = Line2D([], [], color=_INK, marker="|", linestyle="none", markersize=9, markeredgewidth=1.8, label="target")
    deviation = Line2D([], [], color=_GREY, linewidth=2.6, alpha=0.5, label="range of the single ratios")
    axis.legend(
        handles=[*marks, target, deviation], loc="lower left", bbox_to_anchor=(0, 1), ncols=5, frameon=False,
        fontsize=7, borderaxespad=0.2,
    )  # fmt: skip


def _scaling(axis: Axes, row: dict[str, Any]) -> None:
    """Speed-ups with the number of threads, and what Amdahl's law makes of them for many cores."""
    details = row["details"]
    threads, many = details["threads"], details["many"]
    beyond = np.geomspace(1, many, 100)
    axis.plot(beyond, beyond, color=_GREY, linewidth=0.6, linestyle=":", label="no serial share")
    for who, name, colour, marker in (("yardstick", "product", _INK, "D"), ("evaluate", "evaluate", _BLUE, "o")):
        result = details[who]
        label = f"{name}: serial {result['serial_share']:.1%}, {many} cores {result['at_many']:.1f}×"
        axis.plot(threads, result["speedups"], color=colour, marker=marker, markersize=4.5, linestyle="none")
        predicted = [amdahl(result["serial_share"], cores) for cores in beyond]
        axis.plot(beyond, predicted, color=colour, linewidth=1, linestyle="--", label=label)
    ticks = [2**power for power in range(many.bit_length())]
    for scale, at in ((axis.set_xscale, axis.set_xticks), (axis.set_yscale, axis.set_yticks)):
        scale("log", base=2)
        at(ticks, labels=[str(tick) for tick in ticks], size=7)
    axis.grid(color="#E5E5E5", linewidth=0.5)
    axis.set_axisbelow(True)
    axis.set_xlabel("threads (marks: measured)", size=8)
    axis.set_ylabel("times one thread", size=8)
    axis.set_title(row["short_name"].replace(", ", "\n", 1), size=7, color=_INK)
    axis.legend(frameon=False, fontsize=5.5, loc="upper left")


def _growth(axis: Axes, row: dict[str, Any]) -> None:
    """Times and their power laws."""
    details = row["details"]
    sizes = details["sizes"]
    looks = {"evaluate": (_LOOK[row["met"]][0], "o", "-", row["value"], details["standard_error"])}
    looks["yardstick"] = (_INK, "D", "--", row["yardstick_value"], details["yardstick_standard_error"])
    for who, (colour, marker, style, exponent, error) in looks.items():
        axis.plot(
            sizes, details["medians"][who], color=colour, marker=marker, linestyle=style, markersize=4.5, linewidth=1.2,
            label=f"{who}: exponent {exponent:.2f} (standard error {error:.2f})",
        )  # fmt: skip
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(sizes, labels=[f"{size:g}" for size in sizes], size=7)
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="both", which="minor", length=0)
    axis.tick_params(axis="y", labelsize=7)
    axis.grid(color="#E5E5E5", linewidth=0.5)
    axis.set_axisbelow(True)
    axis.set_xlabel("items N" if details["axis"] == "n" else "dimension d", size=8)
    axis.set_ylabel("seconds", size=8)
    wanted = "" if row["target"] is None else f", target {Target(**row['target'])}: {row['outcome']}"
    axis.set_title(f"growth {row['short_name']}{wanted}", size=8, color=_INK)
    axis.legend(frameon=False, fontsize=7, loc="upper left")
