"""Registry of distances: in comes a name, out comes its class, or a distance between embeddings."""

from __future__ import annotations

from typing import Any, cast

from deadheat.engine.distances.cityblock import Cityblock
from deadheat.engine.distances.cosine import Correlation, Cosine, centred
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.euclidean import Euclidean
from deadheat.engine.distances.hamming import Dice, Hamming, Jaccard
from deadheat.engine.distances.inner_product import InnerProduct
from deadheat.engine.literals import DistanceName
from deadheat.inputs import arrays, codes
from deadheat.inputs.samples import open_rows
from deadheat.inputs.source import Source
from deadheat.inputs.sparse import shared_columns
from deadheat.support import checks

DISTANCES: dict[str, type[Distance]] = {
    kind.name: kind for kind in (Cosine, Euclidean, InnerProduct, Cityblock, Hamming, Correlation, Jaccard, Dice)
}

ALIASES = {
    "cos": "cosine", "l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock", "taxicab": "cityblock",
    "dot": "inner_product", "dot_product": "inner_product", "ip": "inner_product", "inner": "inner_product",
    "pearson": "correlation", "tanimoto": "jaccard",
}  # fmt: skip


def find(name: Any) -> type[Distance]:
    return DISTANCES[named(name)]


def named(name: Any, *, takes: str | None = None, argument: str = "distance") -> DistanceName:
    """Return the canonical name of a distance, of those that take such embeddings ("numbers", "bits").

    Examples
    --------
    >>> named("L2"), named("dot"), named("manhattan")
    ('euclidean', 'inner_product', 'cityblock')
    """
    return cast(DistanceName, checks.choice(name, names(takes=takes), argument, ALIASES))


def names(*, takes: str | None = None) -> tuple[str, ...]:
    """Return the names of the distances that take such embeddings ("numbers", "bits"); by default of all."""
    return tuple(name for name, kind in DISTANCES.items() if takes in (None, kind.takes))


def make(name: str, query: Any, gallery: Any | None, exact_only: bool) -> Distance:
    """Check embeddings and make the distance between them; without a gallery, from the queries to themselves.

    `exact_only` says that scores will only be compared with each other, so any increasing function will do.
    """
    kind = find(name)
    query = open_rows(query, "embeddings")
    gallery = None if gallery is None else open_rows(gallery, "gallery")
    if gallery is not None:
        _require_fit(kind, query, gallery)
        if kind is InnerProduct:
            query, gallery = shared_columns(query, gallery)
    if kind.takes == "numbers":
        return kind.between(query, query if gallery is None else gallery, exact_only)
    bits = codes.words(query)
    return kind.between(bits, bits if gallery is None else codes.words(gallery), exact_only)


def check(name: str, query: Source, gallery: Source | None) -> None:
    """Refuse open rows that a distance does not take: of different dims, or that should be binary codes and are not."""
    kind = find(name)
    if kind.takes == "bits":
        codes.require_codes(query)
        if gallery is not None:
            codes.require_codes(gallery)
    if kind is Correlation:
        for source in filter(None, (query, gallery)):
            for _, rows in source.pieces():
                centred(rows)
    if gallery is not None:
        _require_fit(kind, query, gallery)


def opened(embeddings: Any, distance: str, name: str) -> Any:
    """Open checked embeddings, to be used more than once: those on disk stay there, but binary codes are read whole."""
    rows = open_rows(embeddings, name)
    return rows if find(distance).takes == "numbers" else codes.as_bits(rows).whole()


def _require_fit(kind: type[Distance], query: Source, gallery: Source) -> None:
    (arrays.require_same_dim if kind.takes == "numbers" else codes.require_same_form)(query, gallery)
