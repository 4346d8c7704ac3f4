"""Two reports on the same queries: how far apart they are, whether chance explains it, and what the ties can change.

In come two `Report`s; out goes a `Comparison`, which has a `Difference` for each measure. Everything is A − B, query by
query, for the worst case for A, the expected values, and the best case for A.
"""

from deadheat.analyses.comparison.comparing import compare
from deadheat.analyses.comparison.comparison import Comparison
from deadheat.analyses.comparison.difference import Difference, PairedTest

__all__ = ["Comparison", "Difference", "PairedTest", "compare"]
