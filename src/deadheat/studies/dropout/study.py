"""The dropout table and the size figure: is the gap between train and test overfitting, or the number of classes?

In come embeddings of train and test sets, from files or from networks trained here on pictures of words; out go the gap
of the plain and of the grouped measure for each amount of dropout, and both measures against the number of classes.
"""

from __future__ import annotations

from deadheat.studies.dropout import from_files, stand_in
from deadheat.studies.dropout.extent import FULL, QUICK
from deadheat.studies.study import Outcome, Setting, Study, joined

_SOURCE = "M. Zhdanov, I. Karpukhin, Catching Image Retrieval Generalization, 2023, arXiv:2306.13357"
_ABOUT = (
    "A network that has learned its training classes by heart finds them better than new ones. Recall@1 (Hit@1) should "
    "show this as a gap between train and test, but it also falls with the number of classes, so that the gap of two "
    "sets of different size mixes both. In groups of 10 classes the sets compare. The table has both gaps for several "
    "amounts of dropout."
)


def run(setting: Setting) -> Outcome:
    """Compare what files there are, then the stand-in."""
    return joined([from_files.run(setting), stand_in.run(setting, QUICK if setting.quick else FULL)])


STUDY = Study(
    name="dropout",
    question="a network on rendered words: train, test, and the gap between",
    title="Dropout, and the gap between train and test",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/studies/dropout.md",
    run=run,
    needs=("PIL", "scipy"),
)
