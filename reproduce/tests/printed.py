"""Output and pictures of small runs of the studies, for comparison with ``printed.json``.

Input: the name of a run. Output: a dictionary of its conclusion, findings, texts, tables and pictures, with numbers as
printed. Everything that depends on a clock, a processor, fonts or PyTorch is replaced. ``python -m
reproduce.tests.printed`` rewrites the file after an intended change; review the difference.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter

from benchmarks import data
from reproduce import collisions, confidence_data, dropout, exploit, grouped, precision, study
from reproduce import dropout_network as network
from reproduce.dropout import Extent
from reproduce.dropout_network import Embedded
from reproduce.grouped_populations import CLUSTERED
from reproduce.grouped_populations import Extent as Sizes
from reproduce.study import Outcome, Setting

RECORDED = Path(__file__).with_name("printed.json")
TINY = Extent(30, 20, 4, 2, 8, (0.0, 0.5), 1, (10, 20, 30), 2)
SMALL = Sizes((50, 100), 60, 4, 3, 3, (40, 80, 160), 1, 100, 3, (4, 32), (40, 20))
WORDS = """
walk walks walked walking walk's talk talks talked talking hope hoped hoping hopes hop hopped hopping hops
carry carries carried carrying stop stopped stopping stops stop's box boxes boxed boxing build building buildings
string thing bring seed bed this bus grass Paris NATO 'tis
"""
WITH_FILE: dict[str, Callable[[Setting], Outcome]] = {  # phocnet_gw.npz
    "collisions, George Washington": collisions.washington,
    "confidence, George Washington": confidence_data.norms_and_entropies,
    "exploit, George Washington": exploit.published_range,
    "precision, George Washington": precision.run,
}
RUNS = [*study.STUDIES, *WITH_FILE]


@cache
def run(name: str) -> Outcome:
    """A small run: of a study without the files of the paper's authors, or of a part that needs a file."""
    folder = Path(tempfile.mkdtemp())
    if name in WITH_FILE:
        (folder / "phocnet_gw.npz").symlink_to(data.data_file("phocnet_gw.npz").resolve())
        return WITH_FILE[name](Setting(folder, folder, quick=True, threads=1))
    (folder / "words.txt").write_text("\n".join(WORDS.split()) + "\n\n", encoding="utf-8")
    for number, stem in enumerate(("cifar100-train", "cifar100-test", "sop-test")):
        embeddings, labels = CLUSTERED.draw(60, 99, number)
        np.savez(folder / f"{stem}.npz", embeddings=embeddings, labels=[f"class {label}" for label in labels])
    with replaced():
        return study.load(name).run(Setting(folder, folder, quick=True, threads=1))


@contextmanager
def replaced() -> Iterator[None]:
    """Smaller sizes, a clock that counts pairs, pictures without fonts, and clusters in place of embeddings."""

    def timed(work: Callable[[], Any], times: int) -> tuple[Any, float]:
        report = work()
        return report, 1e-6 * float(report.profile.n_ranked.sum())

    def draw(word: str, fonts: Any, copy: int, **how: Any) -> np.ndarray:
        return np.full((24, 64), (sum(word.encode()) + copy) % 256, dtype=np.uint8)

    def embedded(train: Any, test: Any, recipe: Any, cache: Path, **how: Any) -> Embedded:
        random = np.random.default_rng([len(train.words), round(10 * recipe.dropout)])
        codes = [np.unique(pictures.words, return_inverse=True)[1] for pictures in (train, test)]
        first, second = (random.normal(size=(max(c) + 1, 8))[c] + 0.3 * random.normal(size=(len(c), 8)) for c in codes)
        return Embedded(first.astype(np.float32), train.words, second.astype(np.float32), test.words)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped, "QUICK", SMALL)
        patch.setattr(grouped, "_timed", timed)
        patch.setattr(dropout, "QUICK", TINY)
        patch.setattr(network, "find_fonts", lambda: ["a", "b", "c", "d", "e"])
        patch.setattr(network, "draw", draw)
        patch.setattr(network, "is_installed", lambda: True)
        patch.setattr(network, "embedded", embedded)
        yield


def of_outcome(outcome: Outcome) -> dict[str, Any]:
    """All that a study found, as JSON can hold it."""
    return {
        "conclusion": outcome.conclusion,
        "text": list(outcome.text),
        "findings": [[f.what, f.here, str(f.mark), f.published, f.source, f.why] for f in outcome.findings],
        "tables": {table.name: [table.caption, table.headings, *map(_row, table.cells())] for table in outcome.tables},
        "pictures": {
            picture.name: [
                picture.caption,
                [text.get_text() for legend in picture.figure.legends for text in legend.get_texts()],
                *map(_axes, picture.figure.axes),
            ]
            for picture in outcome.pictures
        },
    }


def _row(cells: list[Any]) -> list[Any]:
    """A row of a table; what NumPy's quicksort makes of ties depends on the processor."""
    row = [float(f"{cell:.9g}") if isinstance(cell, float) else cell for cell in cells]
    return row[:2] if "quicksort" in row else row


def _axes(ax: Axes) -> dict[str, Any]:
    """The texts on axes, and the sums of the numbers that are drawn there."""
    legend = [] if ax.get_legend() is None else ax.get_legend().get_texts()
    titles = [ax.get_title(loc) for loc in ("left", "center", "right")]
    fixed = [axis for axis in (ax.xaxis, ax.yaxis) if isinstance(axis.get_major_formatter(), FixedFormatter)]
    ticks = [label.get_text() for axis in fixed for label in axis.get_ticklabels()]
    texts = [*titles, ax.get_xlabel(), ax.get_ylabel(), *(text.get_text() for text in [*ax.texts, *legend]), *ticks]
    for column in ax.child_axes:  # on the right
        texts += [column.get_ylabel(), *(label.get_text() for label in column.get_yticklabels())]
    drawn = [np.transpose(line.get_data()) for line in ax.lines]
    drawn += [np.ma.filled(each.get_offsets(), 0) for each in ax.collections]
    drawn += [np.concatenate([np.empty((0, 2)), *(p.vertices for p in each.get_paths())]) for each in ax.collections]
    drawn += [patch.get_extents().transformed(ax.transData.inverted()).get_points() for patch in ax.patches]
    drawn += [np.ma.filled(image.get_array(), 0).reshape(-1, 1) for image in ax.images]
    columns = [np.asarray(values, dtype=np.float64).T for values in drawn]
    return {
        "texts": [text.replace("\n", " ") for text in texts if text],  # where text is folded depends on fonts
        "limits": [float(f"{end:.6g}") for end in (*ax.get_xlim(), *ax.get_ylim())],
        "sums": [[float(f"{math.fsum(c[np.isfinite(c)]):.9g}") for c in each] for each in columns],
    }


def as_text(value: Any, depth: int = 4) -> str:
    """JSON with a line for each finding, row and axes."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    if depth == 0 or not any(isinstance(part, dict | list) for part in parts):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(as_text(item, depth - 1) for item in value) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {as_text(item, depth - 1)}" for name, item in value.items()) + "\n}"


if __name__ == "__main__":
    RECORDED.write_text(as_text({name: of_outcome(run(name)) for name in RUNS}) + "\n", encoding="utf-8")
