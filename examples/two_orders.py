"""One file of scores in two orders: the README's picture, as SVG in the colours of the reader, light or dark.

    python examples/two_orders.py > docs/assets/two-orders.svg

The scores are those of the reranker in `do_ties_matter.py`: 1,000 queries with 100 candidates each, in bfloat16.
"""

from __future__ import annotations

import numpy as np
from do_ties_matter import by_stable_sort, reranker_scores
from numpy.typing import NDArray

import deadheat as dh

LEFT, SCALE, TOP, STEP = 250, 4.2, 58, 40  # of the drawing, in its units; the scale is that of one per cent


def plain_mrr(scores: NDArray[np.float32], positive: int, k: int = 10) -> float:
    """MRR@k as a stable sort has it, where one column is the relevant one."""
    ranks = 1 + np.argmax(by_stable_sort(scores) == positive, axis=1)
    return float(np.where(ranks <= k, 1 / ranks, 0).mean())


def point(row: int, label: str, value: float) -> str:
    x, y = LEFT + SCALE * 100 * value, TOP + STEP * row
    return (
        f'<text x="{LEFT - 14}" y="{y + 5}" text-anchor="end">{label}</text>'
        f'<circle class="sort" cx="{x:.1f}" cy="{y}" r="6"/>'
        f'<text class="bold" x="{x + 14:.1f}" y="{y + 5}">{100 * value:.2f}</text>'
    )


def bounds(row: int, label: str, result: dh.Result) -> str:
    y, (lower, expected, upper) = (
        TOP + STEP * row,
        (LEFT + SCALE * 100 * value for value in (result.lower, result.expected, result.upper)),
    )
    values = result.summary().partition(" ")[2].removesuffix(" %")
    return (
        f'<text class="bold" x="{LEFT - 14}" y="{y + 5}" text-anchor="end">{label}</text>'
        f'<path class="range" d="M{lower:.1f} {y}H{upper:.1f}"/><path class="mark" d="M{expected:.1f} {y - 9}v18"/>'
        f'<text class="bold" x="{upper + 14:.1f}" y="{y + 5}">{values}</text>'
    )


def picture() -> str:
    scores = reranker_scores()
    relevant = np.arange(scores.shape[1]) == np.zeros((len(scores), 1))
    result = dh.evaluate(dh.from_scores(scores, relevant), "MRR@10")["MRR@10"]
    axis = TOP + 3 * STEP
    ticks = "".join(
        f'<path class="line" d="M{LEFT + SCALE * at:.0f} {axis - 5}v5"/>'
        f'<text class="pale" x="{LEFT + SCALE * at:.0f}" y="{axis + 17}" text-anchor="middle">{at}</text>'
        for at in range(0, 101, 20)
    )
    title = "MRR@10 of one file of scores, in per cent"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {axis + 44}" role="img" aria-label="{title}">
<style>
text {{ font: 15px system-ui, sans-serif; fill: #1a1a1a }} .bold {{ font-weight: 600 }}
.pale {{ font-size: 13px; fill: #57606a }}
.sort {{ fill: #d55e00 }} .range {{ stroke: #0072b2; stroke-width: 9 }} .mark {{ stroke: #1a1a1a; stroke-width: 3 }}
.line {{ stroke: #8c959f }} .paper {{ fill: #fff }}
@media (prefers-color-scheme: dark) {{
.paper {{ fill: #14181d }} text {{ fill: #eceef0 }} .pale {{ fill: #9da7b1 }} .mark {{ stroke: #eceef0 }}
.range {{ stroke: #56b4e9 }} .sort {{ fill: #e69f00 }}
}}
</style>
<rect class="paper" width="760" height="{axis + 44}" rx="4"/>
<text class="pale" x="{LEFT}" y="24">{title}</text>
{point(0, "a sort, positives listed first", plain_mrr(scores, 0))}
{point(1, "the same sort, listed last", plain_mrr(scores[:, ::-1], scores.shape[1] - 1))}
{bounds(2, "deadheat, any order", result)}
<path class="line" d="M{LEFT} {axis}H{LEFT + SCALE * 100:.0f}"/>{ticks}
</svg>
"""


if __name__ == "__main__":
    print(picture(), end="")
