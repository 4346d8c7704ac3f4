"""Thresholds of the audits, each with its reason: from where on something is a finding, and how serious it is.

Scores and shares are fractions in [0, 1]. Effects are judged by how far they move a score; causes, such as duplicates,
by how many rows they are in, and are rarely serious by themselves: the finding about their effect is.
"""

from __future__ import annotations

# How far something moves a score.
CLAIMED = 0.01  # one point: differences of this size are published as progress
PRINTED = 0.001  # a tenth of a point: the last digit that tables print

# The score against that of embeddings that know nothing, in standard deviations. Such embeddings are beyond three of
# them once in 740 draws; measures of classes are not quite normal, so fewer would be false alarms.
BEYOND_CHANCE = 3.0

# Shares of the rows that are zero, or duplicates across classes. One in twenty moves a mean by points; one in a
# thousand is what broken or repeated files leave in real collections.
MANY_ROWS, SOME_ROWS = 0.05, 0.001
# Copies inside classes raise every score. Beyond half of the rows, what is scored is the finding of copies.
MOSTLY_COPIES, MANY_COPIES = 0.5, 0.05

# More than unused borders of images, or a few units that died (digits: 3 of 64).
DEAD_DIMENSIONS = 0.25
# A dimension is saturated where most rows have exactly its largest or smallest number. Zero does not count as such:
# that is what a rectifier, or counting words, leaves.
SATURATED_ROWS, SATURATED_DIMENSIONS = 0.5, 0.25

# Numbers of 8 bits have 256 values, of 4 bits 16. Ties become common below that; above, they are as rare as in floats.
FEW_LEVELS, VERY_FEW_LEVELS = 256, 16
SEEN_AGAIN = 4  # times that each value must occur, on average, to call it a level
LEVEL_DIMENSIONS = 0.5  # the share of live dimensions that have to be so: some are counts or flags in many data sets
SAMPLE_NUMBERS = 1 << 20  # examined for levels and saturation, in rows spread over the file

# Queries that tie in float32 and not as real numbers, so that rounding decides their order: one in ten is a property of
# the system, and no accident.
MANY_NEAR_TIES = 0.1

# The precision of float32, in which models compute: what differs by less than this share of the rows' length differs by
# rounding, or by noise that somebody added. Under cosine that is a share of 1.
PRECISION = 2.0**-23

# Labels are in runs where the order is at least half as sorted as classes one after the other, compared with a random
# order, and is not likely by chance: equal neighbours are about Poisson distributed, and four deviations beyond is once
# in 30 000.
IN_RUNS, RUNS_BEYOND_CHANCE = 0.5, 4.0

# Neighbouring rows are closer than three quarters of the class: an embedding of the row number has nearly all of them,
# one of the items alone a half; four deviations, as above. As many pairs are compared as one pass of so many items
# allows, but enough for chance to be small.
NEARER_ROWS, BEYOND_ORDERS = 0.75, 4.0
PAIRS_OF_ROWS, FEWEST_PAIRS = 1 << 24, 64

# Half of the queries have nothing to find, or half of those that count are of one class: the mean is about the others.
MANY_SINGLETONS, DOMINANT_CLASS = 0.5, 0.5
# The mean over queries and the mean over classes: where they differ by five points, they answer different questions.
MEANS_DIFFER = 0.05

# Whole rankings are sorted for at most so many pairs of query and item, which takes about a second; but for enough
# queries that a mean over them is good to a few points, and the effect of orders on the same queries to far less.
# The items of all that are sorted, which are kept, have at most half a gigabyte.
SORTED_ITEMS, FEWEST_QUERIES, KEPT_ITEMS = 1 << 20, 200, 1 << 27
# Random orders show the effect of an order that means nothing: one order serves all queries, so that it does more than
# breaking the ties of each query independently. What is three standard deviations where these are known is 4.3 where
# they are estimated from eight draws (Student's t).
SHUFFLES, BEYOND_SHUFFLES = 8, 4.3

# Random embeddings are drawn where ten draws take a moment: for about a thousand samples. From fewer than five no
# deviation is estimated.
DRAWN_PAIRS, MOST_DRAWS, FEWEST_DRAWS = 10**7, 10, 5
# Rankings of random embeddings depend on each other, so that a mean deviates more than one of independent rankings: on
# the George Washington words 1.1 to 1.9 times as much. Where none are drawn, twice is assumed.
UNDRAWN = 2.0

EXAMPLES = 10  # rows that are named

# Files of scores. Twenty numbers that bfloat16 holds by chance among float32 numbers: once in 2^320. Fewer than half of
# the scores of a query are distinct where each comes twice.
FEWEST_SCORES, FEW_DISTINCT = 20, 0.5
MOST_DECIMALS = 6  # that are a precision: float32 has 7 digits
