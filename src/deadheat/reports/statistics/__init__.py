"""How sure a mean is: in come values of independent units, out go intervals and p-values. It knows no measure.

intervals     mean ± a quantile of the normal distribution or Student's, or a bootstrap: means of units drawn again
permutation   p-values for differences; holm and step_down for those of many tests
"""
