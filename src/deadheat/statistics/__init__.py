"""How sure a mean is: in come values of independent units, out go intervals and p-values. It knows no measure.

values ──> intervals ──> standard_error   mean ± a quantile of the normal distribution or Student's
                     └─> bootstrap        means of the units drawn again
differences ──> permutation               p-values, and holm for many of them
units: whole classes as units, and the order of their own in which draws take them
"""
