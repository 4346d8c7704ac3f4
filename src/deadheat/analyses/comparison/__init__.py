"""Reports on the same queries: how far apart they are, whether chance explains it, and what the ties can change.

In come `Report`s. Two make a `Comparison`, which has a `Difference` for each measure: A − B query by query, for the
worst case for A, the expected values, and the best case for A. Several make a `Leaderboard`, which has a `Comparison`
for each pair.

comparing ──> Comparison ──> Difference          sentences, cells: how they are told
    └─> ranking ──> board: Leaderboard           letters: who is ahead of whom
"""

from deadheat.analyses.comparison.board import Leaderboard
from deadheat.analyses.comparison.comparing import compare
from deadheat.analyses.comparison.comparison import Comparison
from deadheat.analyses.comparison.difference import Difference
from deadheat.analyses.comparison.ranking import leaderboard
from deadheat.analyses.comparison.settings import PairedTest

__all__ = ["Comparison", "Difference", "Leaderboard", "PairedTest", "compare", "leaderboard"]
