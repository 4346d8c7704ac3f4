"""Profiles of matrices of scores against brute force in exact fractions, and of lists against each by itself."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine.counting.keyed import assert_as_oracle
from numpy.testing import assert_array_equal

from deadheat import from_scores
from deadheat.engine.sources import keyed
from deadheat.engine.sources import scores as scored
from deadheat.engine.sources.candidates import from_candidates
from deadheat.engine.sources.keyed import profile_lists
from deadheat.measures import per_query
from deadheat.support.arrays import offsets_of

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
DTYPES += [">i8", ">u4", ">u8", ">f2", ">f4", ">f8"]


def random_case(rng: np.random.Generator, dtype: str) -> tuple[Any, Any, dict[str, Any]]:
    """A few values, so that ties are common, with the ends of the type among them; graded relevance; options."""
    shape = (int(rng.integers(1, 5)), int(rng.integers(1, 13)))
    kind = np.dtype(dtype).newbyteorder("=")
    if kind.kind == "b":
        values = np.array([False, True])
    elif kind.kind == "f":
        info = np.finfo(kind)
        one = np.ones((), kind)[()]
        ends = [info.max, -info.max, info.smallest_subnormal, -info.smallest_subnormal, np.nextafter(one, kind.type(2))]
        values = np.array([0.0, -0.0, 1.0, -1.0, 0.5, *ends], dtype=kind)
    else:
        limits = np.iinfo(kind)
        values = np.array([0, 1, 2, limits.max, limits.max - 1, limits.min, limits.min + 1], dtype=kind)
    scores = rng.choice(rng.choice(values, 4), shape).astype(dtype)
    grades = rng.choice([[0, 1], [0, 0, 0, 1], [0, 1, 2, 5], [0, 3]][rng.integers(4)], shape)
    options: dict[str, Any] = {"order": ["descending", "ascending"][rng.integers(2)]}
    if rng.random() < 0.5:
        options["junk"] = rng.random(shape if rng.random() < 0.5 else shape[1:]) < 0.3
    return scores, grades, options


@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_brute_force(dtype: str) -> None:
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(60):
        scores, grades, options = random_case(rng, dtype)
        assert_as_oracle(from_scores(scores, grades, threads=1, **options).profile, scores, grades, **options)


RANGES = {
    "even": lambda rng: rng.random(3000).astype(np.float32),
    "few values": lambda rng: rng.integers(-20, 20, 3000),
    "all equal": lambda rng: np.full(3000, -2.5),
    "many magnitudes": lambda rng: rng.normal(size=3000) * 10.0 ** rng.integers(-300, 300, 3000),
    "crowded": lambda rng: np.concatenate([[-1e300, 1e300], 1 + rng.integers(0, 900, 2998) * 2.0**-52]),
    "the whole of int64": lambda rng: rng.integers(-(2**63), 2**63, 3000, endpoint=False),
    "the ends of int64": lambda rng: rng.choice([-(2**63), 2**63 - 1, 0], 3000) ^ rng.integers(0, 200, 3000),
    "the whole of uint64": lambda rng: rng.integers(0, 2**64, 3000, dtype=np.uint64),
}


@pytest.mark.parametrize("numbers", RANGES)
@pytest.mark.parametrize("share", [0.001, 0.1, 0.9])
def test_long_rows(numbers: str, share: float) -> None:
    """Against counting each level on its own, in the type of the scores: levels crowded, widely spaced, equal."""
    rng = np.random.default_rng(7)
    scores = RANGES[numbers](rng)
    relevant = rng.random(3000) < share
    profile = from_scores(scores[None], relevant[None]).profile
    levels = np.unique(scores[relevant])[::-1]
    assert_array_equal(profile.closer, [np.count_nonzero(scores > level) for level in levels])
    assert_array_equal(profile.closer_relevant, [np.count_nonzero(scores[relevant] > level) for level in levels])
    assert_array_equal(profile.tied, [np.count_nonzero(scores == level) for level in levels])
    assert_array_equal(profile.tied_relevant, [np.count_nonzero(scores[relevant] == level) for level in levels])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_what_is_junk_may_have_any_score(dtype: str) -> None:
    """As recommenders mask what a user has seen."""
    rng = np.random.default_rng(5)
    scores, relevant = rng.integers(0, 4, (20, 30)).astype(dtype), rng.random((20, 30)) < 0.3
    for junk in (rng.random((20, 30)) < 0.4, rng.random(30) < 0.4):
        expected = from_scores(scores, relevant, junk=junk).profile
        for odd in (-np.inf, np.inf, np.nan):
            masked = np.where(junk, np.array(odd, dtype=dtype), scores)
            for order in ("descending", "ascending"):
                result = from_scores(masked, relevant, junk=junk, order=order).profile
                assert result == (
                    expected if order == "descending" else from_scores(-scores, relevant, junk=junk).profile
                )
    junk = np.array([[False, False, True], [False] * 3])
    with pytest.raises(ValueError, match=r"^scores must be finite, but holds nan in row 1, column 2; to leave an item"):
        from_scores([[0, 1, np.nan]] * 2, np.eye(2, 3, dtype=bool), junk=junk)


def test_binary_relevance_is_the_same_in_every_type() -> None:
    rng = np.random.default_rng(1)
    scores, relevant = rng.integers(0, 4, (6, 20)), rng.random((6, 20)) < 0.3
    expected = from_scores(scores, relevant).profile
    assert expected.tied_by_grade is None
    assert_array_equal(expected.grades, [1])
    for given in (*(relevant.astype(kind) for kind in ("i1", "u1", "i8", "u8", ">i4")), relevant.tolist()):
        assert from_scores(scores, given).profile.digest() == expected.digest()
    graded, junk = relevant.astype(int), np.arange(20) == 3
    graded[:, 3] = 7  # a grade on junk is no grade
    assert (
        from_scores(scores, graded, junk=junk).profile.digest()
        == from_scores(scores, relevant, junk=junk).profile.digest()
    )


def test_one_grade_other_than_1_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scored, "BLOCK_ENTRIES", 1)  # a block without a relevant item brings in no grade
    profile = from_scores([[1, 0], [1, 0]], [[2, 0], [0, 0]]).profile
    assert_array_equal(profile.grades, [2])
    assert profile.tied_by_grade is not None
    assert profile.relevant_by_grade is not None
    assert_array_equal(profile.relevant_by_grade, [[1], [0]])
    assert per_query(profile, "nDCG").lower[0] == 1


def test_threads_blocks_and_layout_change_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 50, (40, 90)).astype(np.float32)
    grades = rng.choice([0, 0, 0, 1, 2, 9], scores.shape)
    junk = rng.random(scores.shape) < 0.1
    expected = from_scores(scores, grades, junk=junk).profile
    assert_as_oracle(expected, scores, grades, junk=junk)
    np.save(tmp_path / "scores.npy", scores)
    mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")
    backwards = scores[:, ::-1].copy()[:, ::-1]
    for entries in (1, 200, 1 << 18):
        monkeypatch.setattr(scored, "BLOCK_ENTRIES", entries)
        for threads in (1, 2, 5):
            for given in (scores, np.asfortranarray(scores), mapped, scores.astype(">f8"), backwards):
                assert from_scores(given, grades, junk=junk, threads=threads).profile.digest() == expected.digest()


def test_leaves_the_arguments_alone() -> None:
    scores, relevant, junk = np.array([[-0.0, 1.0, 0.0]]), np.array([[1, 0, 2]]), np.array([True, False, False])
    before = copy.deepcopy((scores, relevant, junk))
    for array in (scores, relevant, junk):
        array.flags.writeable = False
    from_scores(scores, relevant, junk=junk)
    assert [a.tobytes() for a in (scores, relevant, junk)] == [a.tobytes() for a in before]


@pytest.mark.parametrize(
    "form", ["csr_array", "csc_array", "coo_array", "lil_array", "dok_array", "bsr_array", "dia_array", "csr_matrix"]
)
def test_sparse_relevance(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    monkeypatch.setattr(scored, "BLOCK_ENTRIES", 60)
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 6, (12, 25))
    for grades in (rng.choice([0, 0, 0, 1, 3], scores.shape), rng.random(scores.shape) < 0.2):
        given = getattr(sparse, form)(grades)
        assert from_scores(scores, given, threads=2).profile == from_scores(scores, grades).profile


def test_sparse_relevance_with_zeros_and_repeats_or_wrong_numbers() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    entries = (np.array([0, 2, 1, 1]), np.array([0, 1, 2, 2]), np.array([0, 4]))  # column 2 twice, column 0 as 0
    given = sparse.csr_array(entries, shape=(1, 3))
    assert from_scores([[3, 2, 1]], given).profile == from_scores([[3, 2, 1]], [[0, 2, 2]]).profile
    assert_array_equal(given.data, [0, 2, 1, 1])
    nothing = from_scores([[3, 2, 1]], sparse.csr_array((1, 3), dtype=bool)).profile
    assert nothing == from_scores([[3, 2, 1]], [[0, 0, 0]]).profile
    for bad, error in ((sparse.csr_array([[1j, 0]]), TypeError), (sparse.coo_array([[1, -2]]), ValueError)):
        with pytest.raises(error, match="relevant must"):
            from_scores([[1, 2]], bad)


@pytest.mark.parametrize(
    ("scores", "relevant", "options", "error", "message"),
    [
        ([[1.0, np.nan]], [[1, 0]], {}, ValueError, "scores must be finite, but holds nan in row 0, column 1"),
        ([[1.0, -np.inf]], [[1, 0]], {}, ValueError, "scores must be finite, but holds -inf"),
        ([1, 2], [1, 0], {}, ValueError, "scores must be two-dimensional"),
        ([["a", "b"]], [[1, 0]], {}, TypeError, "scores must hold real numbers"),
        ([[1j, 2]], [[1, 0]], {}, TypeError, "scores must hold real numbers"),
        ([[2**70, 2]], [[1, 0]], {}, TypeError, "scores must hold real numbers of at most 64 bits"),
        ([[2**53 + 1, 0.5]], [[1, 0]], {}, ValueError, "does not hold 9007199254740993"),
        ([[2**63 + 1, -1]], [[1, 0]], {}, ValueError, "does not hold 9223372036854775809"),
        (
            [[1, 2]],
            [[1, 0, 0]],
            {},
            ValueError,
            r"relevant must have the shape .*, \(1, 2\), but has .*\(1, 3\)",
        ),
        ([[1, 2]], [1, 0], {}, ValueError, "relevant must have the shape of scores"),
        ([[1, 2]], [[1], [1, 2]], {}, ValueError, "relevant must be a matrix"),
        (
            [[1, 2]],
            [["1", "0"]],
            {},
            TypeError,
            "relevant must be bool, or gains of at most 64 bits, but has dtype <U1",
        ),
        *(
            ([[1, 2]], [[odd, 0.5]], {}, ValueError, f"relevant must hold gains of 0, or from .*, but holds {odd}")
            for odd in (-0.5, np.nan, np.inf)
        ),
        ([[1, 2]], [[1, -1]], {}, ValueError, "relevant must hold grades of 0 and more, but holds -1"),
        ([[1, 2]], np.array([[1, 2**63]], "u8"), {}, ValueError, r"relevant must hold grades below 2\^63"),
        ([[1, 2]], [[1, 0]], {"order": "desc"}, ValueError, "order must be one of descending, ascending"),
        ([[1, 2]], [[1, 0]], {"threads": 0}, ValueError, "threads must be at least 1, but is 0"),
        ([[1, 2]], [[1, 0]], {"junk": [True]}, ValueError, r"junk must have shape \(2,\) or \(1, 2\)"),
        ([[1, 2]], [[1, 0]], {"junk": [1, 0]}, TypeError, "junk must be bool"),
    ],
)
def test_refuses_bad_matrices(scores: Any, relevant: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        from_scores(scores, relevant, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("most_grade", [1, 3])
@pytest.mark.parametrize("entries", [8, 1 << 18])
def test_each_list_is_counted_as_a_matrix_of_one_row(
    most_grade: int, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scored, "BLOCK_ENTRIES", entries)
    rng = np.random.default_rng(most_grade)
    lengths = np.concatenate([rng.integers(1, 9, 40), [300, 1, 64, 63]])
    scores = rng.integers(-2, 3, lengths.sum()) / 2
    grades = rng.integers(0, most_grade + 1, len(scores))
    profile = profile_lists(scores, grades, lengths)
    for query, start in enumerate(offsets_of(lengths)[:-1].tolist()):
        items = slice(start, start + lengths[query])
        single = from_scores(scores[None, items], grades[None, items]).profile
        for name in ("closer", "closer_relevant", "tied", "tied_relevant", "n_ranked", "n_relevant"):
            assert_array_equal(getattr(profile[query], name), getattr(single, name))
    assert profile.n_query == len(lengths)
    assert (profile.tied_by_grade is None) == (most_grade == 1)


def test_scores_are_compared_in_their_own_type() -> None:
    near = np.array([0.5, np.nextafter(0.5, 1)])
    assert profile_lists(near, np.array([1, 0]), np.array([2])).closer.tolist() == [1]
    ends = np.array([-np.inf, np.inf, -np.inf])
    assert profile_lists(ends, np.array([0, 0, 1]), np.array([3])).tied.tolist() == [2]


def test_padding_is_no_more_than_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """One list of 4096 items among lists of one must not make a matrix of 4096 columns for all of them."""
    largest, counted = [], keyed.count_keys
    monkeypatch.setattr(scored, "count_keys", lambda keys, *more: largest.append(keys.size) or counted(keys, *more))
    lengths = np.array([1] * 1000 + [4096])
    profile_lists(np.zeros(lengths.sum()), np.ones(lengths.sum(), dtype=np.int64), lengths)
    assert sum(largest) <= 2 * lengths.sum()


@pytest.mark.parametrize("order", ["descending", "ascending"])
@pytest.mark.parametrize("with_junk", [None, (9,), (5, 9)], ids=str)
@pytest.mark.parametrize("shared", [True, False])
def test_links_are_matrices_with_one_relevant_item_a_row(shared: bool, with_junk: Any, order: Any) -> None:
    rng = np.random.default_rng(4)
    positives, negatives = (rng.integers(0, 4, shape) / 2 for shape in (5, 9 if shared else (5, 9)))
    junk = None if with_junk is None else rng.random(with_junk) < 0.4
    scores = np.column_stack([positives, np.broadcast_to(negatives, (5, 9))])
    mask = np.column_stack([np.zeros(5, dtype=bool), np.broadcast_to(False if junk is None else junk, (5, 9))])
    wanted = from_scores(scores, np.arange(10) == np.zeros((5, 1)), order=order, junk=mask).profile
    assert from_candidates(negatives, positive_scores=positives, order=order, junk=junk).profile == wanted
    places = rng.permutation(10)
    columns = np.full(5, places.tolist().index(0))
    assert (
        from_candidates(scores[:, places], positive_columns=columns, order=order, junk=mask[:, places]).profile
        == wanted
    )
