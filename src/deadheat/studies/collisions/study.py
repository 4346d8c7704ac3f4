"""Figures 2, 3 and 4 of Nicolaou et al. 2018: which neighbours collide, and which of the collisions are ties.

The published picture calls it a collision where two neighbours in rank are less than e apart in rounded distances. Here
that rule stands beside the exact one, on the paper's data if it is there, and on sets that need no file.
"""

from __future__ import annotations

from deadheat.studies.collisions import made, washington
from deadheat.studies.study import Outcome, Setting, Study, joined

_SOURCE = (
    "Nicolaou et al. 2018, Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings, "
    "arXiv:1806.07171, figures 2, 3 and 4, and the code and data that were published with it (anguelos/embedding_map)."
)
_ABOUT = (
    "The paper draws, for every query and rank, whether two neighbours in rank are closer together than e, and takes "
    "this for the ambiguity of the ranking. Two neighbours that are that close need not tie. Here each collision is "
    "looked at exactly: is it a tie of the real numbers, and is the group relevant, irrelevant, or mixed? Only a mixed "
    "group can change a measure."
)


def run(setting: Setting) -> Outcome:
    """The four sets, one after another."""
    text = [
        "The paper shows figures 2 and 3 without a count, so that only the pictures can be compared. Orange is a "
        "relevant collision (red in the paper), blue an irrelevant one, as in the paper; black is a mixed one, which "
        "the paper does not tell apart.",
        "The published rule sorts the query itself among the items, and counts the gap between it and its nearest "
        "neighbour; deadheat takes the query out by its index.",
    ]
    return joined([part(setting) for part in (washington.run, made.white_noise, made.pixels, made.grid)], text)


STUDY = Study(
    name="collisions",
    question="which neighbours are equally far",
    title="Collisions: which neighbours are equally far",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/studies/collisions.md",
    run=run,
    needs=("scipy", "sklearn"),
)
