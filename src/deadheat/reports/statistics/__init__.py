"""The uncertainty of means: in come values of independent units, out go intervals and p-values. It knows no measure.

intervals     mean ± Student's quantile times its standard error, or a bootstrap: means of units drawn again
permutation   p-values for differences; holm for those of many tests
"""
