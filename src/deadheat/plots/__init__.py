"""Plots. Each function takes Matplotlib axes, or makes some, and returns them; `pip install 'deadheat[plots]'`.

from deadheat.plots.bounds import bounds                          reports side by side: lower, expected, upper
from deadheat.plots.collisions import collision_image             who collides, query by query and rank by rank
from deadheat.plots.comparison import differences, intervals      A − B for each query; means with intervals
from deadheat.plots.confidence import error_reject, risk_coverage, reliability, highest_density
from deadheat.plots.exploit import sample_order, ranges           the labels along the file; what an order is worth
from deadheat.plots.grouped import against_classes                a measure against the number of classes
from deadheat.plots.precision import changes, mixed_queries       the same embeddings in fewer bits
from deadheat.plots.words import tie_sizes                        how large tie groups are
"""

from deadheat.support.extras import require

require("matplotlib", "plots", "deadheat.plots")
