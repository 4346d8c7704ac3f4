"""How sure a mean is: in come values of independent units, out go intervals and p-values. It knows no measure."""
