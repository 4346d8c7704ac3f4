"""Queries that are in the gallery themselves: left out as by a mask of pairs, and said where they are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from keyed import profiled

import deadheat as dh
from deadheat.errors import InvalidValueError, QueryInGalleryWarning

RNG = np.random.default_rng(7)
ROWS, LABELS = RNG.standard_normal((60, 5)), np.repeat(np.arange(12), 5)
OTHERS = RNG.standard_normal((20, 5)), np.arange(20) % 12


def warned(*args, **options):
    """The report, and how many queries the one warning about it names."""
    with pytest.warns(QueryInGalleryWarning, match=r"^\d+ of \d+ queries are in the gallery themselves, ") as caught:
        report = dh.evaluate(*args, **options)
    (warning,) = caught
    assert warning.filename == __file__
    n = int(str(warning.message).split()[0])
    assert report.n_in_gallery == report.to_dict()["n_in_gallery"] == n
    assert f"{n} of {report.n_query} queries are in the gallery themselves, as an equal row" in str(report)
    return report, n


def silent(*args, **options):
    with warnings.catch_warnings(action="error"):
        report = dh.evaluate(*args, **options)
    assert report.n_in_gallery == 0
    assert "as an equal row" not in str(report)
    return report


# Leaving them out -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock", "hamming"])
@pytest.mark.parametrize("with_junk", [None, "gallery", "pairs"])
def test_excluded_is_what_a_mask_of_all_pairs_leaves_out(distance, with_junk):
    rng = np.random.default_rng(3)
    gallery = rng.integers(0, 2, (30, 6)).astype(bool if distance == "hamming" else float)
    own = rng.integers(-1, 30, 12)
    query, labels = gallery[np.maximum(own, 0)], rng.integers(0, 3, 30)
    query_labels = labels[np.maximum(own, 0)]
    junk = {None: None, "gallery": rng.random(30) < 0.2, "pairs": rng.random((12, 30)) < 0.2}[with_junk]
    mask = np.zeros((12, 30), dtype=bool) if junk is None else np.array(np.broadcast_to(junk, (12, 30)))
    mask[np.flatnonzero(own >= 0), own[own >= 0]] = True
    expected = profiled(query, query_labels, gallery, labels, distance=distance, junk=mask, exclude=[-1] * 12)
    result = profiled(query, query_labels, gallery, labels, distance=distance, junk=junk, exclude=own)
    assert result == expected


@pytest.mark.parametrize("ties", ["exact", "float16", dh.Tolerance(1e-3)])
def test_a_set_without_each_itself_is_leave_one_out(ties):
    alone = silent(ROWS, LABELS, ties=ties)
    ids = [f"img-{i}" for i in range(60)]
    for exclude in (np.arange(60), (ids, ids)):
        report = silent(ROWS, LABELS, ROWS, LABELS, exclude=exclude, ties=ties)
        assert report.profile == alone.profile
        assert report.n_excluded == report.to_dict()["n_excluded"] == 60
        assert "60 of 60 queries are in the gallery themselves, and not ranked against their own row." in str(report)


def test_many_queries_need_no_mask():
    n = 200_000  # a mask of all pairs would take 40 GB
    rows, labels = np.arange(n, dtype=np.float32)[:, None], np.arange(n) // 2
    query = np.arange(0, n, 100_000)
    report = silent(rows[query], labels[query], rows, labels, exclude=query, distance="euclidean", measures="Hit@1")
    assert report["Hit@1"].lower == 1 / 2  # seen from 100 000, the neighbour of the other class is as near
    assert report["Hit@1"].upper == 1


@pytest.mark.parametrize(
    ("gallery", "exclude", "error", "message"),
    [
        (
            (),
            np.arange(60),
            InvalidValueError,
            "^exclude must be left out without a gallery, or be a rule: each query is left out",
        ),
        ((ROWS, LABELS), np.arange(60) + 60, InvalidValueError, "but holds 60 for query 0$"),
        ((ROWS[:, :4], LABELS), None, InvalidValueError, "must have the same dim, but have 5 and 4 columns"),
        ((ROWS, [str(label) for label in LABELS]), None, TypeError, "must be of the same kind"),
    ],
)
def test_what_is_refused(gallery, exclude, error, message):
    with pytest.raises(error, match=message):
        dh.evaluate(ROWS, LABELS, *gallery, exclude=exclude)


# Saying so ------------------------------------------------------------------------------------------------------------


def test_queries_that_are_in_the_gallery_are_counted():
    report, n = warned(ROWS, LABELS, ROWS, LABELS)
    assert (n, report["Hit@1"].lower) == (60, 1)
    query = np.concatenate([ROWS[:7], OTHERS[0]]), np.concatenate([LABELS[:7], OTHERS[1]])
    assert warned(*query, ROWS, LABELS)[1] == 7
    junk = np.eye(60, dtype=bool)
    junk[:4] = False
    assert warned(ROWS, LABELS, ROWS, LABELS, junk=junk)[1] == 4
    with pytest.warns(QueryInGalleryWarning, match="^60 of 60 queries"):
        dh.Task(ROWS, LABELS, ROWS, LABELS)
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", QueryInGalleryWarning)
        assert dh.evaluate(ROWS, LABELS, ROWS, LABELS).n_in_gallery == 60


def test_equal_numbers_of_other_types_and_zeros_of_either_sign_are_equal():
    rows = RNG.integers(-9, 10, (60, 5)).astype(np.float32)
    negated = -rows.astype(np.float64)
    rows[:, 0] = negated[:, 0] = 0
    assert warned(rows, LABELS, np.negative(negated), LABELS)[1] == 60
    assert warned(rows.astype(np.int8), LABELS, rows.astype(np.float16), LABELS)[1] == 60


def test_bits_and_files_are_looked_at_too(tmp_path):
    bits = RNG.random((60, 64)) < 0.5
    assert warned(bits, LABELS, bits, LABELS, distance="hamming")[1] == 60
    np.savez(tmp_path / "set.npz", embeddings=ROWS, labels=LABELS)
    assert warned(tmp_path / "set.npz", gallery=tmp_path / "set.npz")[1] == 60


def test_no_word_where_nobody_finds_itself():
    silent(ROWS, LABELS)
    silent(*OTHERS, ROWS, LABELS)
    silent(ROWS, (LABELS + 1) % 12, ROWS, LABELS)  # the same rows, but under other labels
    silent(np.nextafter(ROWS, 9), LABELS, ROWS, LABELS)
    assert silent(ROWS, LABELS, ROWS, LABELS, junk=np.eye(60, dtype=bool)).profile == profiled(ROWS, LABELS)
    silent(ROWS[:3], LABELS[:3], ROWS, LABELS, junk=np.arange(60) < 3)


def test_codes_of_few_bits_are_equal_by_chance():
    rng = np.random.default_rng(5)
    codes, labels = rng.integers(0, 2, (500, 8)) > 0, rng.integers(0, 2, 500)
    silent(codes[:100], labels[:100], codes[100:], labels[100:], distance="hamming")
    assert warned(codes, labels, codes, labels, distance="hamming")[1] == 500
