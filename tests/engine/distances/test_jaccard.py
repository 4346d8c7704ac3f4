"""Jaccard (Tanimoto) and Dice of codes, against sets of Python and their fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

import deadheat as dh
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.distances import registry
from deadheat.engine.distances.hamming import Dice

EVERY = np.array(list(product([False, True], repeat=5)))  # all codes of 5 bits, the empty one first
SETS = [frozenset(np.flatnonzero(row).tolist()) for row in EVERY]


def jaccard(a, b):
    return Fraction(len(a & b), len(a | b)) if a | b else Fraction(1)


def dice(a, b):
    return Fraction(2 * len(a & b), len(a) + len(b)) if a | b else Fraction(1)


@pytest.mark.parametrize("similarity", [jaccard, dice])
def test_the_closeness_of_all_small_codes_is_the_fraction(similarity):
    metric = registry.make(similarity.__name__, EVERY, None, exact_only=True)
    left, right = (index.ravel() for index in np.indices((32, 32)))
    real = [similarity(SETS[i], SETS[j]) for i, j in zip(left, right, strict=True)]
    assert metric.exact_closeness(left, right).signed_squares() == [value**2 for value in real]
    scores = metric.scores.pair_scores(left, right)
    assert_array_equal(np.unique(scores, return_inverse=True)[1], np.unique(real, return_inverse=True)[1])
    assert_array_equal(metric.scores.tile(0, np.arange(32), np.arange(32)).ravel(), scores)
    for low, high in (metric.closeness(left, scores, scores), metric.closeness(left, scores - 0.1, scores + 0.1)):
        assert all(Fraction(a) <= value <= Fraction(b) for a, value, b in zip(low, real, high, strict=True))
        low, high = metric.score(left, low, high)
        assert (low <= scores).all()
        assert (scores <= high).all()


def test_distances_are_those_of_scipy_also_of_two_empty_codes():
    ranked = Rankings(EVERY, EVERY, CountingOptions.checked(distance="jaccard"))
    expected = cdist(EVERY, EVERY, "jaccard")
    assert expected[0, 0] == 0
    for block in ranked:
        low, high = ranked.closeness(block)
        result = 1 - np.take_along_axis(expected[block.queries], block.items, axis=1)
        assert (low - 1e-15 <= result).all()
        assert (result <= high + 1e-15).all()
        assert (high - low).max() < 4e-15


@pytest.mark.parametrize("n_bit", [64, 2048, 4096, 4160])
def test_long_codes_are_counted_as_their_fractions(n_bit):
    """Sparse and dense codes; the closest fractions of 2,048 bits are distinguished; by tiles and single pairs."""
    rng = np.random.default_rng(n_bit)
    rows = rng.random((40, n_bit)) < rng.choice([0.02, 0.5, 0.98], (40, 1))
    rows[7], rows[8] = False, True
    rows[30:] = rows[:10]
    common = rows.astype(np.int64) @ rows.T
    both = common.diagonal()[:, None] + common.diagonal()
    pairs = zip(common.ravel().tolist(), both.ravel().tolist(), strict=True)
    similar = [Fraction(c, b - c) if b else Fraction(1) for c, b in pairs]
    ranks = np.unique(np.array(similar, dtype=object), return_inverse=True)[1].reshape(40, 40)
    labels = rng.integers(0, 4, 40)
    others = ~np.eye(40, dtype=bool)
    scores = ranks[others].reshape(40, 39), (labels[:, None] == labels)[others].reshape(40, 39)
    wanted = dh.from_scores(*scores).profile
    for form in (rows, np.where(rows, 1.0, -1.0), np.packbits(rows, axis=1), sparse.csr_array(rows.astype(np.float32))):
        for threads in (1, 3):
            assert dh.Task(form, labels, distance="tanimoto", threads=threads).profile == wanted
    assert dh.Task(rows, labels, distance="dice").profile == wanted
    sets = [{label, 4 + k % 2} for k, label in enumerate(labels.tolist())]
    shared = np.array([[len(a & b) for b in sets] for a in sets])[others].reshape(40, 39)
    graded = dh.Task(rows, sets, distance="jaccard", relevance="count").profile
    assert graded == dh.from_scores(scores[0], shared).profile


@pytest.mark.parametrize("width", [1, 3, 8, 33])
def test_tiles_have_the_bits_of_pairs(width):
    rng = np.random.default_rng(width)
    left, right = (rng.integers(0, 2**64, (n, width), dtype=np.uint64) for n in (5, 67))
    left[0] = right[3] = 0
    ones = np.bitwise_count(left).sum(axis=1)[:, None] + np.bitwise_count(right).sum(axis=1)
    differing = np.bitwise_count(left[:, None] ^ right).sum(axis=-1).astype(np.float64)
    scores = Dice(left, right).scores.tile(0, np.arange(5), np.arange(67))
    assert_array_equal(scores, -(differing / np.maximum(ones, 1)))
    assert not np.signbit(scores[0, 3])


def test_neighbouring_fractions_of_the_longest_codes_are_different_floats():
    """h/s of h < 2^24 and s < 2^25 next to each other: |h s' − h' s| = 1."""
    rng, most = np.random.default_rng(0), 2**24 - 1
    for _ in range(2000):
        s = int(rng.integers(most, 2 * most))
        h = int(rng.integers(most // 2, most))
        if np.gcd(s, h) == 1:
            inverse = pow(h, -1, s)  # h·inverse − s·k = 1
            other = (h * inverse - 1) // s
            assert h * inverse - other * s == 1
            assert h / s > other / inverse


@pytest.mark.parametrize("name", ["jaccard", "dice"])
def test_pairs_are_ranked_by_their_fractions(name):
    rng = np.random.default_rng(5)
    pairs, same = rng.integers(0, 32, (60, 2)), rng.integers(0, 2, 60)
    real = [{"jaccard": jaccard, "dice": dice}[name](SETS[i], SETS[j]) for i, j in pairs]
    result = dh.pair_classification(EVERY, pairs, same, distance=name)
    ranks = np.unique(np.array(real, dtype=object), return_inverse=True)[1]
    expected = dh.classification(ranks, same)
    assert [result[m] for m in ("AP", "AUROC")] == [expected[m] for m in ("AP", "AUROC")]


def test_what_needs_another_distance_is_refused():
    task = dh.Task(EVERY, np.arange(32) % 4, distance="jaccard")
    with pytest.raises(ValueError, match=r"^task must have distance 'hamming' for hash lookup, but has 'jaccard'$"):
        dh.hash_lookup(task)
    with pytest.raises(ValueError, match=r"^distance must be one of cosine, .* but is 'jaccard'$"):
        dh.compare_formats(task)
    with pytest.raises(ValueError, match=r"^embeddings must be bool, bits packed .* for a distance of bits"):
        dh.Task([[0, 2], [1, 1]], [0, 0], distance="jaccard")


def test_an_audit_and_a_receipt_take_fingerprints(tmp_path):
    task = dh.Task(EVERY, np.arange(32) % 4, distance="tanimoto")
    assert dh.audit(task).to_dict()
    path = tmp_path / "receipt.json"
    dh.receipt(task, measures="mAP").save(path)
    assert dh.verify(path, task).matches
    assert not dh.verify(path, dh.Task(EVERY[::-1], np.arange(32) % 4, distance="tanimoto")).matches


@pytest.mark.parametrize(("value", "tied"), [(None, 2), ("similarity", 2), ("distance", 1)])
def test_the_similarity_or_the_distance_is_rounded(value, tied):
    """99/100 and 100/101 are one number in bfloat16; 1/100 and 1/101 are two."""
    rows = np.arange(101) < np.array([[100], [99], [101]])
    ties = dh.Rounded("bfloat16", of=value)
    profile = dh.Task(rows[:1], [0], rows[1:], [0, 1], distance="jaccard", ties=ties).profile
    assert profile[0].tied.tolist() == [tied]
    assert dh.Task(rows[:1], [0], rows[1:], [0, 1], distance="jaccard").profile[0].closer.tolist() == [1]
