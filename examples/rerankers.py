"""A reranker whose inputs are cut off, and what its scores look like: an audit of a file of scores, without a download.

The shorter the inputs, the better it looks where ties keep the order of the candidates.
"""

from __future__ import annotations

import deadheat as dh
from reproduce.rerankers import scores_of


def main() -> None:
    for length in (256, 128, 64):
        run = scores_of(length, n_query=100, n_candidate=20)
        judged = {query: {"0000": 1} for query in run}  # the positive is listed first
        values = dh.audit_run(run, judged, measures="MRR@10")
        listed, result = values.rules["in the order of the file"]["MRR@10"], values.report["MRR@10"]
        print(f"inputs of {length}: MRR@10 {listed:.3f} in the order of the file; ", end="")
        print(f"{result.expected:.3f} [{result.lower:.3f}, {result.upper:.3f}] over all orders")
        print(f"    {values.verdict()}: {', '.join(each.name for each in values)}")


if __name__ == "__main__":
    main()
