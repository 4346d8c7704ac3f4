"""What the sources say of the collisions that they draw, judged by the counts.

In come the collisions of the published rule by distance; out go findings.
"""

from __future__ import annotations

from collections.abc import Mapping

from deadheat.studies import published
from deadheat.studies.collisions.rule import DISTANCES, Data, Ruled, distances_of, published_rule
from deadheat.studies.study import Finding, Mark

ALMOST_ALL = 0.95  # of the collisions, at least: the choice of this study, as the source has no number
FEW = 100  # collisions, of which no share is taken


def fewer(data: Data, samples: str, pairs: Mapping[str, Ruled], *, judged: bool) -> Finding:
    """How many collisions there are under cosine for each under euclidean, against "about 20", to one digit."""
    cosine, euclidean = pairs["cosine"].n_collision, pairs["euclidean"].n_collision
    agrees = euclidean > 0 and float(f"{cosine / euclidean:.0e}") == published.FEWER_COLLISIONS
    return Finding(
        f"{data.name}, {samples}, e = {data.eps:g}: collisions under cosine for each under euclidean",
        f"{cosine / euclidean:.1f} ({cosine} to {euclidean})" if euclidean else f"{cosine} to 0",
        Mark.of(agrees) if judged else Mark.OTHER_DATA,
        f"about {published.FEWER_COLLISIONS}",
        published.TIES,
        "judged to one digit: about 20 is from 15 to 25" if judged else "fewer samples than in the figure",
    )


def right_side(data: Data, samples: str, pairs: Mapping[str, Ruled], *, judged: bool) -> list[Finding]:
    """Which share of the collisions is on the right side of the picture, by distance; not of fewer than `FEW`."""
    return [
        Finding(
            f"{data.name}, {samples}, {distance}: collisions in the right half of the ranks, and in the last quarter",
            f"{100 * ruled.right_half:.0f} %, {100 * ruled.last_quarter:.0f} %",
            Mark.of(ruled.right_half >= ALMOST_ALL) if judged else Mark.OTHER_DATA,
            "almost all on the right side",
            published.TIES,
            f"judged as {100 * ALMOST_ALL:.0f} % in the right half" if judged else "fewer samples than in the figure",
        )
        for distance, ruled in pairs.items()
        if ruled.n_collision >= FEW
    ]


def noise_eps(part: Data, samples: str, *, judged: bool) -> list[Finding]:
    """What 10,000 times the e of figure 2 finds in white noise, and what that e itself finds."""
    findings = []
    for eps, compared in ((1e-10, "as in"), (1e-6, "10,000 times that of"), (1e-5, "100,000 times that of")):
        data = Data(part.name, part.title, part.embeddings, part.labels, eps)
        pairs = {
            distance: Ruled.of(published_rule(distances_of(data, distance), data.relevant, eps))
            for distance in DISTANCES
        }
        findings.append(
            Finding(
                f"{data.name}, {samples}, e = {eps:g}, {compared} figure 2: collisions by distance",
                ", ".join(f"{name} {ruled.n_collision}" for name, ruled in pairs.items()),
                Mark.NEW,
                published.NOISE_EPS,
                published.TIES,
            )
        )
        if eps == 1e-6:
            findings.append(fewer(data, samples, pairs, judged=judged))
    return findings
