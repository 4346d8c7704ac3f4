"""Bad input, through the public door: one line that names the argument, the rule and what came."""

from __future__ import annotations

import numpy as np
import pytest
from inputs import written

import deadheat as dh

ROWS = np.arange(12.0).reshape(4, 3)
LABELS = [0, 1, 0, 1]


def refusal(kind, *arguments, **options):
    return written.refusal(kind, dh.profile, *arguments, **options)


# ---------------------------------------------------------------------------------------------------------------------
# embeddings


@pytest.mark.parametrize("distance", ["cosine", "cityblock"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
@pytest.mark.parametrize(("value", "shown"), [(np.nan, "nan"), (-np.inf, "-inf")])
def test_nan_and_infinity_are_refused_with_their_place(value, shown, dtype, distance):
    bad = ROWS.astype(dtype)
    bad[2, 1] = value
    said = f"must be finite, but holds {shown} in row 2, column 1"
    assert refusal(ValueError, bad, LABELS, distance=distance) == f"embeddings {said}"
    assert refusal(ValueError, ROWS, LABELS, bad, LABELS, distance=distance) == f"gallery {said}"


def test_nan_far_down_a_large_array_is_found():
    rows = np.zeros((3000, 2000), dtype=np.float32)
    rows[2999, 7] = np.nan
    assert "row 2999, column 7" in refusal(ValueError, rows, np.zeros(3000, dtype=int))


@pytest.mark.parametrize(
    ("array", "kind", "parts"),
    [
        (ROWS.astype(object), TypeError, ("dtype object",)),
        (ROWS.astype(complex), TypeError, ("real", "complex128")),
        (ROWS.astype(np.longdouble), TypeError, ("64 bits", str(np.dtype(np.longdouble)))),
        (ROWS.astype(str), TypeError, ("real", "<U")),
        (ROWS.astype("M8[s]"), TypeError, ("real", "datetime64")),
        (np.zeros(4, dtype=[("a", "f4")])[:, None], TypeError, ("real",)),
        (np.array([[2**53 + 1, 0, 0]] * 4), ValueError, ("2^53", str(2**53 + 1))),
        (np.array([[-(2**53) - 1, 0, 0]] * 4), ValueError, ("2^53", str(-(2**53) - 1))),
        (np.array([[2**63 + 1, 0, 0]] * 4, dtype=np.uint64), ValueError, ("2^53", str(2**63 + 1))),
        ([[1.0, None, 2.0]] * 4, ValueError, ("must have no missing values, but row 0 has one",)),
        ([[2**70, 1, 2]] * 4, TypeError, ("real", "object")),
        ([[1, 2], [3]], ValueError, ("rows differ in length",)),
        (np.zeros(4), ValueError, ("two-dimensional", "(4,)")),
        (np.zeros((4, 3, 2)), ValueError, ("two-dimensional", "(4, 3, 2)")),
        (np.float64(3), ValueError, ("two-dimensional", "()")),
        (np.zeros((0, 3)), ValueError, ("at least one row", "(0, 3)")),
        (np.zeros((4, 0)), ValueError, ("at least one row", "(4, 0)")),
        ([], ValueError, ("two-dimensional", "(0,)")),
    ],
)
def test_arrays_that_are_not_embeddings_are_refused(array, kind, parts):
    for name, arguments in (("embeddings", (array, LABELS)), ("gallery", (ROWS, LABELS, array, LABELS))):
        for distance in ("cosine", "euclidean"):
            message = refusal(kind, *arguments, distance=distance)
            assert message.startswith(name + " ")
            assert all(part in message for part in parts), message


def test_integers_up_to_2_53_are_taken():
    profile = dh.profile(np.array([[2**53], [2**53 - 1], [-(2**53)]]), [0, 0, 0], distance="euclidean")
    assert profile.tied.tolist() == [1] * 6


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_dims_that_differ_are_refused(distance):
    message = refusal(ValueError, ROWS, LABELS, ROWS[:, :2], LABELS, distance=distance)
    assert message == "embeddings and gallery must have the same dim, but have 3 and 2 columns"


@pytest.mark.parametrize(
    "array", [ROWS, ROWS.astype(np.float32), ROWS.astype(int), ROWS.astype(np.int8), ROWS.tolist()]
)
def test_hamming_is_for_bits(array):
    message = refusal(TypeError, array, LABELS, distance="hamming")
    assert message.startswith("embeddings must be bool, or uint8")
    assert "dtype" in message


def test_hamming_codes_must_agree_in_length_and_in_form():
    bits = np.eye(4, 16, dtype=bool)
    packed = np.packbits(bits, axis=1)
    assert "16 and 8" in refusal(ValueError, bits, LABELS, bits[:, :8], LABELS, distance="hamming")
    assert "2 and 1" in refusal(ValueError, packed, LABELS, packed[:, :1], LABELS, distance="hamming")
    for one, other in ((bits, packed), (packed, bits)):
        with pytest.raises((ValueError, TypeError), match=r"^embeddings and gallery must"):
            dh.profile(one, LABELS, other, LABELS, distance="hamming")
    # as many bytes in one as bits in the other: of one shape, and not to be compared
    with pytest.raises((ValueError, TypeError), match=r"^embeddings and gallery must .*(bool|uint8)"):
        dh.profile(bits, LABELS, np.zeros((4, 16), dtype=np.uint8), LABELS, distance="hamming")


# ---------------------------------------------------------------------------------------------------------------------
# labels


def test_whole_floats_are_integers_as_labels() -> None:
    expected = dh.profile(ROWS, [0, 1, 0, -1])
    for labels in ([0.0, 1.0, 0.0, -1.0], np.array([0, 1, 0, -1], np.float16), np.array([0, 2.0**53, 0, 1])):
        assert dh.profile(ROWS, labels) == expected
        assert dh.profile(ROWS, labels, ROWS, [0, 1, 0, -1]).n_query == 4


@pytest.mark.parametrize(
    ("labels", "kind", "parts"),
    [
        ([0, 1, 0], ValueError, ("3 labels for 4 rows",)),
        ([0, 1, 0, 1, 0], ValueError, ("5 labels for 4 rows",)),
        ([], ValueError, ("0 labels for 4 rows",)),
        (np.zeros((4, 1), dtype=int), ValueError, ("one-dimensional", "(4, 1)")),
        (np.zeros((1, 4), dtype=int), ValueError, ("one-dimensional", "(1, 4)")),
        (np.array(3), ValueError, ("one-dimensional", "()")),
        (np.array([0, 1, 0.5, 1]), TypeError, ("integers or strings", "float64", "0.5 in row 2")),
        (np.array([0, 1, np.nan, 1]), TypeError, ("integers or strings", "nan in row 2")),
        (np.array([0, 1, 0, 2**24 + 2], np.float32), TypeError, ("integers or strings", "float32", "row 3")),
        (np.array([0, 1, 0, 2.0**53 + 2]), TypeError, ("integers or strings", "row 3")),
        ([0.0, 1.0, 0.0, 1e30], TypeError, ("integers or strings", "1e+30 in row 3")),
        ([0, 1, 0, 1.5], TypeError, ("integers or all strings", "float")),
        ([0, 1, 0, None], TypeError, ("integers or all strings", "NoneType")),
        ([0, 1, 0, float("nan")], TypeError, ("integers or all strings", "float")),
        (["a", "b", 0, 1], TypeError, ("integers or all strings", "mixture")),
        (np.array(["a", 1, "b", 2], dtype=object), TypeError, ("integers or all strings", "mixture")),
        ([[0], [1], [0], [1]], TypeError, ("integers or all strings", "list")),
        (np.zeros(4, dtype=complex), TypeError, ("integers or strings", "complex128")),
        (np.zeros(4, dtype="M8[s]"), TypeError, ("integers or strings", "datetime64")),
        (5, TypeError, ("sequence", "5")),
        (None, TypeError, ("must be given: only files can hold labels too",)),
    ],
)  # fmt: skip
def test_bad_labels_are_refused(labels, kind, parts):
    message = refusal(kind, ROWS, labels)
    assert message.startswith("labels ")
    assert all(part in message for part in parts), message
    if labels is not None:
        message = refusal(kind, ROWS, LABELS, ROWS, labels)
        assert message.startswith("gallery_labels ")
        assert all(part in message for part in parts), message


def test_query_and_gallery_have_labels_of_one_kind_and_of_their_own_number():
    together = "gallery and gallery_labels must be given together, but got"
    words = ["a", "b", "a", "b"]
    assert "labels and gallery_labels must be of the same kind" in refusal(TypeError, ROWS, words, ROWS, LABELS)
    assert "labels" in refusal(ValueError, ROWS, [0, 1], ROWS[:2], [0, 1])
    message = refusal(ValueError, ROWS, LABELS, ROWS[:2], LABELS)
    assert message == "gallery_labels must have one entry per row of gallery, but got 4 labels for 2 rows"
    assert refusal(ValueError, ROWS, LABELS, ROWS) == f"{together} gallery without gallery_labels"
    message = refusal(ValueError, ROWS, LABELS, gallery_labels=LABELS)
    assert message == f"{together} gallery_labels without gallery"


# ---------------------------------------------------------------------------------------------------------------------
# options


@pytest.mark.parametrize(
    ("distance", "nearest"),
    [("cosin", "cosine"), ("Cosine", "cosine"), ("euclid", "euclidean"), ("minkowski", None), ("haming", "hamming"),
     ("inner-product", "inner_product"), ("city_block", "cityblock"), ("", None), (2, None), (["cosine"], None)],
)  # fmt: skip
def test_an_unknown_distance_is_refused_with_the_nearest(distance, nearest):
    message = refusal(ValueError if isinstance(distance, str) else TypeError, ROWS, LABELS, distance=distance)
    listed = "distance must be one of cosine, euclidean, inner_product, cityblock, hamming, but is "
    assert message == f"{listed}{distance!r}" + (f"; did you mean {nearest!r}?" if nearest else "")


@pytest.mark.parametrize("junk", [*map(np.zeros, [3, (4, 3), (3, 4), (1, 4), (4, 4, 1)]), True])
def test_junk_of_another_shape_is_refused(junk):
    message = refusal(ValueError, ROWS, LABELS, junk=np.asarray(junk, dtype=bool))
    assert message == f"junk must have shape (4,) or (4, 4), but has shape {np.shape(junk)}"


@pytest.mark.parametrize("junk", [np.zeros(4, dtype=int), np.zeros((4, 4)), [0, 1, 0, 1], ["a", "b", "c", "d"]])
def test_junk_of_another_type_is_refused(junk):
    message = refusal(TypeError, ROWS, LABELS, junk=junk)
    assert message == f"junk must be bool, but has dtype {np.asarray(junk).dtype}"


def test_junk_is_measured_against_query_and_gallery():
    message = refusal(ValueError, ROWS, LABELS, ROWS[:2], LABELS[:2], junk=np.zeros((2, 4), dtype=bool))
    assert message == "junk must have shape (2,) or (4, 2), but has shape (2, 4)"


@pytest.mark.parametrize("threads", [0, -1, -(2**70), 1.5, 2.0, True, False, np.True_, "2", [1]])
def test_bad_threads_are_refused(threads):
    message = refusal(ValueError if type(threads) is int else TypeError, ROWS, LABELS, threads=threads)
    assert message.startswith("threads must be ")
    assert repr(threads) in message or str(threads) in message


def test_options_are_checked_before_any_work():
    """A wrong option is refused also where nothing would have come of it."""
    assert "ties" in refusal(ValueError, ROWS, [0, 1, 2, 3], ties="nonsense")
    rounded = dh.Rounded("float16", "similarity")
    assert "of must" in refusal(ValueError, ROWS, [0, 1, 2, 3], distance="euclidean", ties=rounded)
