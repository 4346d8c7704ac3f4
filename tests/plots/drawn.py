"""Readers of the content of axes."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes


def line(ax: Axes, label: str) -> Any:
    """The line with a label."""
    return next(each for each in ax.lines if each.get_label() == label)


def rows(ax: Axes) -> list[str]:
    """The names at the left."""
    return [label.get_text() for label in ax.get_yticklabels()]


def column(ax: Axes) -> list[str]:
    """The words on the rows at the right, and their label."""
    (axis,) = ax.child_axes
    return [*(label.get_text() for label in axis.get_yticklabels()), axis.get_ylabel()]


def words(ax: Axes) -> list[str]:
    """The texts of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[union-attr]


def segments(collection: Any) -> list[list[list[float]]]:
    """The ends of each line of a collection, [[x, y], [x, y]]."""
    return [segment.tolist() for segment in collection.get_segments()]
