"""Metamorphic laws of everything public: one table says which changes of the input leave which results as they are.

Each law is a change of a `Case`, each result a function of a case. In the table, = says that every number of the result
is the same, bit by bit, and ! that the change matters: then it has to show, so that no law holds of an empty result.
A dot says that the law does not apply; a result without any has the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import deadheat as dh

MEASURES = ["mAP", "MAP@R", "Hit@1", "nDCG@10", "MRR", "R-Precision"]


@dataclass(frozen=True)
class Case:
    """Rows on a small grid, full of ties, leave one out or with a gallery, and how they are handed over."""

    rows: Any
    labels: Any
    gallery: Any = None
    gallery_labels: Any = None
    factor: int = 1  # of cutoffs
    portions: int = 1
    swapped: bool = False

    def task(self, distance: Any = "euclidean", **settings: Any) -> Any:
        task = dh.Task(self.rows, self.labels, self.gallery, self.gallery_labels, distance=distance, **settings)
        if self.portions == 1:
            return task
        parts = [task.portion(i, self.portions) for i in range(self.portions)]
        return dh.from_profile(dh.TieProfile.from_portions(parts), self.labels)

    @property
    def scores(self) -> Any:
        """Minus the squared distances to the gallery, and relevance."""
        differences = self.rows[:, None].astype(np.float64) - self.gallery
        same = np.array([[label == other for other in self.gallery_labels] for label in self.labels])
        return -(differences**2).sum(axis=-1), same

    def run(self) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
        """The scores as a run, with ids of what an item is, and its qrels."""
        scores, same = self.scores
        ids = [f"{prefix}{i}" for i, prefix in enumerate(np.where(np.arange(scores.shape[1]) % 2, "d", "e"))]
        runs, qrels = ({f"q{i}": dict(zip(ids, row, strict=True)) for i, row in enumerate(each.tolist())}
                       for each in (scores, same.astype(int)))  # fmt: skip
        return runs, qrels


def case(separate: bool) -> Case:
    rng = np.random.default_rng(5)
    rows, labels = rng.integers(-2, 3, (24, 3)).astype(np.float32), np.repeat(np.arange(6), 4)
    if not separate:
        return Case(rows, labels)
    return Case(rows[:9], rng.integers(0, 6, 9), rng.integers(-2, 3, (20, 3)).astype(np.float32), np.arange(20) % 6)


def moved(change: Callable[[Any, Any], tuple[Any, Any]], queries: bool, **more: Any) -> Callable[[Case], Case]:
    """A change of the rows and labels of a gallery and of its queries, or of the gallery, which may be the queries."""

    def changed(given: Case) -> Case:
        new = dict(more)
        if queries or given.gallery is None:
            new["rows"], new["labels"] = change(given.rows, given.labels)
        if given.gallery is not None:
            new["gallery"], new["gallery_labels"] = change(given.gallery, given.gallery_labels)
        return replace(given, **new)

    return changed


def permuted(rows: Any, labels: Any) -> tuple[Any, Any]:
    order = np.random.default_rng(len(rows)).permutation(len(rows))
    return rows[order], labels[order]


def with_farthest(rows: Any, labels: Any) -> tuple[Any, Any]:
    return np.concatenate([rows, rows[:1] + 1000]), np.append(labels, 99)


LAWS: dict[str, Callable[[Case], Case]] = {
    "permuted": moved(permuted, True),  # items, and queries where they are others, each with its label
    "scaled": moved(lambda rows, labels: (rows * np.float32(2.0**-5), labels), True),
    "renamed": moved(lambda rows, labels: (rows, np.array([f"class {'fedcba'[label]}" for label in labels])), True),
    "sets": moved(lambda rows, labels: (rows, [{int(label)} for label in labels]), True),  # one-hot
    "farthest": moved(with_farthest, False),  # irrelevant to every query; a singleton itself
    "doubled": moved(lambda rows, labels: (np.tile(rows, (2, 1)), np.tile(labels, 2)), False, factor=2),  # and cutoffs
    "portions": lambda given: replace(given, portions=3),
    "swapped": lambda given: replace(given, swapped=True),  # two systems
}


def numbers(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers of nested plain values, by their path."""
    if isinstance(value, Mapping):
        for name in value.keys() - set(NO_VALUES):
            yield from numbers(value[name], f"{at}.{name}")
    elif isinstance(value, (list, tuple)):
        for i, entry in enumerate(value):
            yield from numbers(entry, f"{at}.{i}")
    elif isinstance(value, (bool, int, float)) or value is None or not at:
        yield at, None if value != value else value


# What names rows or describes the input, and orders that were searched from that in the file.
NO_VALUES = (
    "deadheat", "distance", "rule", "profile", "seed", "order", "plain_sort", "n_singleton", "n_query", "n_gallery",
    "bytes", "units", "query", "class", "n_in_gallery", "n_excluded", "n_class", "n_undefined",
)  # fmt: skip


def report(task: Any, measures: Any = MEASURES) -> Any:
    return dh.evaluate(task, measures).to_dict()


def of_evaluate(given: Case) -> Any:
    return report(given.task())


def of_scores(given: Case) -> Any:
    return report(dh.from_scores(*given.scores))


def of_cutoffs(given: Case) -> Any:
    returned = dh.evaluate(given.task(), [f"P@{3 * given.factor}", f"Recall@{4 * given.factor}"])
    return [np.array(returned[name].per_query).tolist() for name in returned.measures]


def of_compare(given: Case) -> Any:
    a, b = (dh.evaluate(given.task(distance), "mAP") for distance in ("euclidean", "cityblock"))
    row = dh.compare(*((b, a) if given.swapped else (a, b)), n_resamples=99)["mAP"]
    ends = (row.lower, row.expected, row.upper, *row.interval().outer, row.n_wins_a, row.n_wins_b)
    low, mean, high, least, most, wins, losses = ends
    mirrored = (-high, -mean, -low, -most, -least, losses, wins)
    return [*(mirrored if given.swapped else ends), row.pvalue, row.pvalue_worst_case, row.n_open, row.n_equal]


def of_leaderboard(given: Case) -> Any:
    reports = {name: dh.evaluate(given.task(name), "mAP") for name in ("euclidean", "cityblock")}
    if given.swapped:
        reports = dict(reversed(reports.items()))
    return dh.leaderboard(reports, n_resamples=99).to_dict()


def of_profile(given: Case) -> Any:
    profile = given.task().profile
    rows = [profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant]
    return sorted(zip(*(row.tolist() for row in rows), strict=True))


def of_index(given: Case) -> Any:
    returned = np.argsort(np.abs(given.scores[0]), axis=1, kind="stable")[:, :4]
    return dh.index_recall(returned, given.rows, given.gallery, 4, distance="euclidean").to_dict()


def of_truth(given: Case) -> Any:
    squares = np.abs(given.scores[0])
    returned, truth = (np.argsort(each, axis=1, kind="stable")[:, :6] for each in (squares[:, ::-1], squares))
    returned = squares.shape[1] - 1 - returned[:, :4]  # in the other order of the file
    return dh.index_recall_of_truth(returned, truth, np.take_along_axis(squares, truth, axis=1), 4).to_dict()


def of_candidates(given: Case) -> Any:
    scores, same = given.scores
    has = same.any(axis=1)
    positive = np.where(same, scores, -np.inf).argmax(axis=1)
    return report(dh.from_candidates(scores[has], positive_columns=positive[has]), "MRR")


def of_judged(given: Case) -> Any:
    _, qrels = given.run()
    ids = list(qrels), list(qrels["q0"])
    return report(dh.from_judged(given.rows, given.gallery, qrels, *ids, distance="euclidean"))


def of_neighbors(given: Case) -> Any:
    scores, _ = given.scores
    ids = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, ids, axis=1)
    return report(dh.from_neighbors(ids, scores, given.labels, given.gallery_labels))


def of_ranks(given: Case) -> Any:
    scores, same = given.scores
    first = np.where(same, scores, -np.inf).max(axis=1)[:, None]
    ranks = [1 + (scores > first).sum(axis=1), (scores >= first).sum(axis=1)]
    return dh.link_prediction(dh.from_ranks(*ranks, np.full(len(scores), scores.shape[1]))).to_dict()


def of_lists(given: Case) -> Any:
    runs, qrels = given.run()
    ranked = {query: sorted(run, key=lambda item: (-run[item], item)) for query, run in runs.items()}
    relevant = {query: {item for item, grade in grades.items() if grade} for query, grades in qrels.items()}
    return report(dh.from_lists(ranked, relevant))


def of_bits(given: Case) -> Any:
    codes = (given.rows > 0, given.labels, given.gallery > 0, given.gallery_labels)
    return dh.hash_lookup(dh.Task(*codes, distance="hamming")).to_dict()["radii"]


def of_pairs(given: Case) -> Any:
    rows, same = given.gallery, np.equal.outer(given.gallery_labels, given.gallery_labels)
    pairs = np.array([(i, j) for i in range(len(rows)) for j in range(i)])
    return dh.pair_classification(rows, pairs, same[tuple(pairs.T)], distance="euclidean").to_dict()["measures"]


def of_within(given: Case) -> Any:
    relevant = dh.within(1.5 * float(np.abs(given.rows[given.rows != 0]).min()), given.rows, given.gallery)
    return report(dh.Task(given.rows, gallery=given.gallery, relevant=relevant))


def of_exploit(given: Case) -> Any:
    returned = dh.exploit(given.task(), searches=1, draws=2).to_dict()["measures"]["mAP"]
    return [returned[name] for name in ("lower", "expected", "upper")]


def of_p_values(given: Case) -> Any:
    rows = dh.p_values(given.task(), by="query", n_resamples=999).to_dict()["rows"]
    return sorted(sorted((at, value) for at, value in numbers(row)) for row in rows)


def of_audit(given: Case) -> Any:
    measures = dh.audit(given.task(), measures=MEASURES).to_dict()["measures"]
    return [[row[key] for key in ("lower", "expected", "upper", "float16")] for row in measures.values()]


def of_page(given: Case) -> Any:
    page = dh.html_report(dh.evaluate(given.task(), MEASURES))
    return re.sub(r"\b[0-9a-f]{8,}", "digest", page)


def of_collection(given: Case) -> Any:
    qrels = given.run()[1]
    return dh.audit_collection(given.gallery, qrels, list(qrels["q0"])).to_dict()


def of_receipt(given: Case) -> Any:
    return repr(dh.receipt(given.task(), measures=MEASURES).content["measures"])


#                     base     permuted scaled renamed sets farthest doubled portions swapped
TABLE = """
    Rounded           gallery  =        =      =       =    =        !       =        .
    Task              gallery  =        =      =       =    =        !       =        .
    Tolerance         gallery  =        !      =       =    =        !       =        .
    audit             alone    =        =      =       =    =        !       .        .
    audit_collection  gallery  =        =      =       =    !        !       .        .
    audit_run         gallery  !        =      =       =    =        !       .        .
    classification    gallery  =        !      =       =    !        !       .        .
    collisions        alone    =        =      =       =    !        !       .        .
    compare           gallery  =        =      =       =    =        !       .        =
    compare_formats   alone    =        =      =       =    =        !       .        .
    confidence        alone    =        =      =       .    !        !       .        .
    evaluate          alone    =        =      =       =    =        !       =        .
    exploit           alone    =        =      =       =    =        !       .        .
    from_candidates   gallery  =        =      =       =    =        !       .        .
    from_judged       gallery  =        =      =       =    =        !       .        .
    from_lists        gallery  !        =      =       =    =        !       .        .
    from_neighbors    gallery  =        =      =       =    =        !       .        .
    from_profile      gallery  =        =      =       =    =        !       =        .
    from_ranks        gallery  =        =      =       =    !        !       .        .
    from_run          gallery  =        =      =       =    =        !       .        .
    from_scores       gallery  =        =      =       =    =        !       .        .
    generalization_gap alone   =        =      !       .    !        !       .        .
    grouped           alone    =        =      !       .    !        !       .        .
    hash_lookup       gallery  =        =      =       =    !        =       .        .
    html_report       gallery  !        =      !       !    =        !       .        .
    index_recall      gallery  =        =      =       =    =        !       .        .
    index_recall_of_truth gallery =     =      =       =    =        !       .        .
    leaderboard       gallery  =        =      =       =    =        !       .        =
    measures          gallery  !        =      =       =    =        =       =        .
    p_values          gallery  =        =      =       =    !        !       =        .
    pair_classification gallery =       !      =       =    !        !       .        .
    precision_recall  gallery  =        =      =       =    =        !       =        .
    random_baseline   alone    !        =      =       .    !        !       .        .
    receipt           gallery  =        =      =       =    =        !       .        .
    split_half        alone    =        =      !       .    !        !       .        .
    verify            gallery  !        !      !       !    !        !       .        .
    within            gallery  =        =      =       =    =        !       .        .
"""
SAME = {"Receipt": "receipt", "Report": "evaluate", "Result": "evaluate", "CountedTask": "from_scores",
        "TieProfile": "Task", "link_prediction": "from_ranks"}  # fmt: skip
NO_LAW = {
    "errors": "types of exceptions",
    "plots": "draws what other functions return; tests/plots",
    "read": "reads files; tests/inputs",
}
RESULTS: dict[str, Callable[[Case], Any]] = {
    "Task": of_profile,
    "audit": of_audit, "audit_collection": of_collection, "compare": of_compare,
    "evaluate": of_evaluate, "exploit": of_exploit, "from_candidates": of_candidates, "from_judged": of_judged,
    "from_lists": of_lists, "from_neighbors": of_neighbors, "from_ranks": of_ranks, "from_scores": of_scores,
    "hash_lookup": of_bits, "html_report": of_page, "index_recall": of_index, "index_recall_of_truth": of_truth,
    "leaderboard": of_leaderboard, "measures": of_cutoffs, "p_values": of_p_values,
    "pair_classification": of_pairs, "receipt": of_receipt, "within": of_within,
    "Rounded": lambda given: report(given.task(ties=dh.Rounded("bfloat16"))),
    "Tolerance": lambda given: report(given.task(ties=dh.Tolerance(0.3))),
    "audit_run": lambda given: dh.audit_run(*given.run()).to_dict()["measures"],
    "classification": lambda given: dh.classification(*map(np.ravel, given.scores)).to_dict()["measures"],
    "collisions": lambda given: dh.collisions(given.task()).to_dict()["counts"],
    "compare_formats": lambda given: dh.compare_formats(given.task(), formats="float16", n_resamples=99).to_dict(),
    "confidence": lambda given: sorted(dh.confidence.label_entropy(given.task(), k=4).tolist()),
    "from_profile": lambda given: report(dh.from_profile(given.task().profile)),
    "from_run": lambda given: report(dh.from_run(*given.run())),
    "generalization_gap": lambda given: dh.generalization_gap(case(False).task(), given.task(), group_size=3).to_dict(),
    "grouped": lambda given: dh.grouped(given.task(), group_size=3, measures=MEASURES).to_dict()["measures"],
    "precision_recall": lambda given: dh.precision_recall(given.task()).to_dict(),
    "random_baseline": lambda given: dh.random_baseline(given.labels, dim=3, draws=2).to_dict()["by_chance"],
    "split_half": lambda given: dh.split_half(given.task(), group_size=3, draws=3).to_dict(),
    "verify": lambda given: dh.verify(dh.receipt(case(separate=True).task(), measures=MEASURES), given.task()).matches,
}  # fmt: skip
ROWS = {
    name: (base, dict(zip(LAWS, cells, strict=True))) for name, base, *cells in map(str.split, TABLE.split("\n")[1:-1])
}
CELLS = [(name, law, cell) for name, (_, cells) in ROWS.items() for law, cell in cells.items() if cell != "."]


def test_the_table_has_everything_public() -> None:
    assert set(dh.__all__) == ROWS.keys() | SAME.keys() | NO_LAW.keys()
    assert set(SAME.values()) <= ROWS.keys()
    assert ROWS.keys() == RESULTS.keys()
    assert not ROWS.keys() & (SAME.keys() | NO_LAW.keys())


@cache
def before(name: str) -> dict[str, Any]:
    return dict(numbers(RESULTS[name](case(ROWS[name][0] == "gallery"))))


@pytest.mark.parametrize(("name", "law", "cell"), CELLS)
def test_law(name: str, law: str, cell: str) -> None:
    after = dict(numbers(RESULTS[name](LAWS[law](case(ROWS[name][0] == "gallery")))))
    changed = sorted({at for at, _ in after.items() ^ before(name).items()})
    assert before(name)
    assert bool(changed) == (cell == "!"), changed
