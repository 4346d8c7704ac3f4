"""The same embeddings in fewer bits: what is left of a measure, what that costs at most, and how many ties come in.

In come embeddings and labels; out go embeddings whose numbers have been rounded, or reports on these, one a format.
What is rounded here is the embedding. `ties="float16"` of `deadheat.evaluate` rounds the scores instead.
"""

from deadheat.analyses.precision.evaluating import precisions
from deadheat.analyses.precision.formats import FORMATS, Format
from deadheat.analyses.precision.result import Precisions
from deadheat.analyses.precision.rounding import quantized

__all__ = ["FORMATS", "Format", "Precisions", "precisions", "quantized"]
