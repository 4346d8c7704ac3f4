"""Inputs become arrays of the same numbers and labels, or one line says what is wrong with them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from inputs.written import refusal
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.inputs.arrays import embeddings
from deadheat.inputs.conversion import plain
from deadheat.inputs.labels import label_codes

pd: Any = pytest.importorskip("pandas")
pl: Any = pytest.importorskip("polars")
pa: Any = pytest.importorskip("pyarrow")

ROWS = np.arange(12.0).reshape(4, 3) ** 2
LABELS = np.array([0, 1, 0, 1])


def refused(kind, *arguments, **options):
    return refusal(kind, dh.Task, *arguments, **options)


# embeddings


@pytest.mark.parametrize(
    ("array", "kind", "parts"),
    [
        (ROWS.astype(object), TypeError, ("dtype object",)),
        (ROWS.astype(complex), TypeError, ("real", "complex128")),
        (ROWS.astype(np.longdouble), TypeError, ("64 bits", str(np.dtype(np.longdouble)))),
        (ROWS.astype(str), TypeError, ("real", "<U")),
        (ROWS.astype("M8[s]"), TypeError, ("real", "datetime64")),
        (np.zeros(4, dtype=[("a", "f4")])[:, None], TypeError, ("real",)),
        (np.array([[2**63 + 1, 0, 0]] * 4, dtype=np.uint64), ValueError, ("2^53", "a larger one in row 0")),
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
            message = refused(kind, *arguments, distance=distance)
            assert message.startswith(name + " ")
            assert all(part in message for part in parts), message


def test_integers_up_to_2_53_are_taken():
    profile = dh.Task(np.array([[2**53], [2**53 - 1], [-(2**53)]]), [0, 0, 0], distance="euclidean").profile
    assert profile.tied.tolist() == [1] * 6


def test_dims_that_differ_are_refused():
    for distance in ("cosine", "euclidean", "inner_product", "cityblock"):
        message = refused(ValueError, ROWS, LABELS, ROWS[:, :2], LABELS, distance=distance)
        assert message == "embeddings and gallery must have the same dim, but have 3 and 2 columns"


# labels


def test_whole_floats_are_integers_as_labels() -> None:
    expected = dh.Task(ROWS, [0, 1, 0, -1]).profile
    for labels in ([0.0, 1.0, 0.0, -1.0], np.array([0, 1, 0, -1], np.float16), np.array([0, 2.0**53 - 1, 0, 1])):
        assert dh.Task(ROWS, labels).profile == expected
        assert dh.Task(ROWS, labels, ROWS, [0, 1, 0, -1]).profile.n_query == 4


def test_a_row_or_a_column_of_labels_is_labels_in_arrays_and_files(tmp_path: Path) -> None:
    expected = dh.Task(ROWS, [0, 1, 0, 1]).profile
    for shape in ((1, 4), (4, 1)):
        labels = np.array([0, 1, 0, 1]).reshape(shape)
        np.save(tmp_path / "labels.npy", labels)
        assert dh.Task(ROWS, labels).profile == dh.Task(ROWS, tmp_path / "labels.npy").profile == expected


@pytest.mark.parametrize(
    ("labels", "kind", "parts"),
    [
        ([0, 1, 0], ValueError, ("3 labels for 4 rows",)),
        ([0, 1, 0, 1, 0], ValueError, ("5 labels for 4 rows",)),
        ([], ValueError, ("0 labels for 4 rows",)),
        (np.full((4, 2), 2), ValueError, ("0 and 1 alone", "row 0 has another")),
        (np.zeros((4, 2, 2), dtype=int), ValueError, ("one-dimensional", "(4, 2, 2)")),
        (np.array(3), ValueError, ("one-dimensional", "()")),
        (np.array([0, 1, 0.5, 1]), TypeError, ("integers or strings", "float64", "another number in row 2")),
        (np.array([0, 1, np.nan, 1]), TypeError, ("integers or strings", "nan in row 2")),
        (np.array([0, 1, 0, 2**24 + 2], np.float32), TypeError, ("integers or strings", "float32", "row 3")),
        (np.array([0, 1, 2.0**53, 2.0**53 + 1]), TypeError, ("integers or strings", "row 2; a float stands", "2**53")),
        ([0.0, 1.0, 0.0, 1e30], TypeError, ("integers or strings", "another number in row 3")),
        ([0, 1, 0, 1.5], TypeError, ("integers or all strings", "float")),
        ([0, 1, 0, None], TypeError, ("integers or all strings", "NoneType")),
        ([0, 1, 0, float("nan")], TypeError, ("integers or all strings", "float")),
        (["a", "b", 0, 1], TypeError, ("integers or all strings", "mixture")),
        (np.array(["a", 1, "b", 2], dtype=object), TypeError, ("integers or all strings", "mixture")),
        ([[0], ["a"], [0], [1]], TypeError, ("integers or all strings", "mixture")),
        (np.zeros(4, dtype=complex), TypeError, ("integers or strings", "complex128")),
        (np.zeros(4, dtype="M8[s]"), TypeError, ("integers or strings", "datetime64")),
        (5, TypeError, ("sequence", "5")),
    ],
)  # fmt: skip
def test_bad_labels_are_refused(labels, kind, parts):
    message = refused(kind, ROWS, labels)
    assert message.startswith("labels ")
    assert all(part in message for part in parts), message
    message = refused(kind, ROWS, LABELS, ROWS, labels)
    assert message.startswith("gallery_labels ")
    assert all(part in message for part in parts), message


def test_query_and_gallery_have_labels_of_one_kind_and_of_their_own_number():
    together = "gallery and gallery_labels must be given together, but got"
    message = refused(ValueError, ROWS, LABELS, ROWS[:2], LABELS)
    assert message == "gallery_labels must have one entry per row of gallery, but got 4 labels for 2 rows"
    assert refused(ValueError, ROWS, LABELS, ROWS) == f"{together} gallery without gallery_labels"
    message = refused(ValueError, ROWS, LABELS, gallery_labels=LABELS)
    assert message == f"{together} gallery_labels without gallery"


# options


@pytest.mark.parametrize(
    ("distance", "nearest"),
    [("cosin", "cosine"), ("Cosine", "cosine"), ("euclid", "euclidean"), ("minkowski", None), ("haming", "hamming"),
     ("inner-product", "inner_product"), ("city_block", "cityblock"), ("", None), (2, None), (["cosine"], None)],
)  # fmt: skip
def test_an_unknown_distance_is_refused_with_the_nearest(distance, nearest):
    message = refused(ValueError if isinstance(distance, str) else TypeError, ROWS, LABELS, distance=distance)
    listed = "cosine, euclidean, inner_product, cityblock, hamming, correlation, jaccard, dice"
    assert message == f"distance must be one of {listed}, but is {distance!r}" + (
        f"; did you mean {nearest!r}?" if nearest else ""
    )


@pytest.mark.parametrize(
    ("junk", "kind", "rule"),
    [
        *((np.zeros(shape, bool), ValueError, f"have shape (4,) or (4, 4), but has shape {shape}")
          for shape in ((), (3,), (4, 3), (3, 4), (1, 4), (4, 1), (4, 4, 1))),
        *((np.asarray(junk), TypeError, f"be bool, but has dtype {np.asarray(junk).dtype}")
          for junk in (np.zeros(4, dtype=int), np.zeros((4, 4)), [0, 1, 0, 1], ["a", "b", "c", "d"])),
    ],
)  # fmt: skip
def test_junk_of_another_shape_or_type_is_refused(junk, kind, rule):
    assert refused(kind, ROWS, LABELS, junk=junk) == f"junk must {rule}"
    message = refused(ValueError, ROWS, LABELS, ROWS[:2], LABELS[:2], junk=np.zeros((2, 4), dtype=bool))
    assert message == "junk must have shape (2,) or (4, 2), but has shape (2, 4)"


@pytest.mark.parametrize("threads", [0, -1, -(2**70), 1.5, 2.0, True, False, np.True_, "2", [1]])
def test_bad_threads_are_refused(threads):
    message = refused(ValueError if type(threads) is int else TypeError, ROWS, LABELS, threads=threads)
    assert message.startswith("threads must be ")
    assert repr(threads) in message or str(threads) in message


ODD = 2**53 + 1  # the first integer that float64 does not hold


# Masks --------------------------------------------------------------------------------------------------------------


def masked(array):
    return np.ma.masked_array(array, mask=np.arange(np.size(array)).reshape(np.shape(array)) == 0)


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("labels", (ROWS, masked(LABELS)), {}),
        ("labels", (ROWS, masked(np.array(["a", "b", "a", "b"]))), {}),
        ("labels[0]", (ROWS, [masked(LABELS[:2]), masked(LABELS[2:])]), {}),
        ("gallery_labels", (ROWS, LABELS, ROWS, masked(LABELS)), {}),
        ("embeddings", (masked(ROWS), LABELS), {}),
        ("embeddings", ([masked(row) for row in ROWS], LABELS), {}),
        ("junk", (ROWS, LABELS), {"junk": masked(np.zeros(4, dtype=bool))}),
        ("junk", (ROWS, LABELS), {"junk": list(masked(np.zeros((4, 4), dtype=bool)))}),
    ],
)
def test_a_mask_is_not_lost(name, arguments, options):
    assert refusal(TypeError, dh.Task, *arguments, **options).startswith(f"{name} must be a plain array, but is a m")


def test_a_mask_of_relevance_or_scores_is_not_lost():
    square, relevant = ROWS @ ROWS.T, LABELS[:, None] == LABELS
    function = dh.from_scores
    assert refusal(TypeError, function, square, masked(relevant)).startswith("relevant must be a plain array")
    assert "must be a plain array" in refusal(TypeError, function, masked(square), relevant)
    interval = dh.evaluate(dh.Task(ROWS, LABELS).profile).interval
    message = refusal(TypeError, interval, "mAP", resample="class", labels=masked(LABELS))
    assert message.startswith("labels must be")


# Labels -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("missing", "shown"), [(np.nan, "float"), (None, "NoneType")])
def test_strings_of_numpy_are_labels_and_a_missing_one_is_none(missing, shown):
    array = np.array(["a", "é", missing, "b"], dtype=np.dtypes.StringDType(na_object=missing))
    assert refusal(TypeError, dh.Task, ROWS, array).endswith(f"holds an entry of type {shown} in row 2")
    array[2] = "a"
    for strings in (array, array.astype(np.dtypes.StringDType())):
        assert dh.Task(ROWS, strings).profile == dh.Task(ROWS, ["a", "é", "a", "b"]).profile


def test_bytes_with_strings_are_text_in_utf_8():
    words = ["é", "b", "ü", "é"]
    coded = np.array([word.encode() for word in words])
    for query, gallery in ((np.array(words), coded), (coded, np.array(words, dtype=object)), (coded, coded)):
        query_codes, codes = label_codes(query, gallery)
        assert_array_equal(query_codes, codes)
        assert len(set(codes.tolist())) == 3
    message = refusal(ValueError, label_codes, np.array([b"\xe9"]), np.array(["é"]))
    assert message == "labels must be text in UTF-8 to be compared with strings, but hold other bytes"
    assert refusal(ValueError, label_codes, np.array(["é"]), np.array([b"\xe9"])).startswith("gallery_labels must be")


def test_bytes_are_no_integers_and_labels_among_themselves():
    assert "of the same kind" in refusal(TypeError, label_codes, np.array([b"1"]), np.array([1]))
    for query, gallery, kinds in (([1, 2], ["1"], "integers and text"), (["1"], [2], "text and integers")):
        said = f"must be of the same kind, but are {kinds}: str() makes text of integers"
        assert said in refusal(TypeError, label_codes, *(np.array(side, object) for side in (query, gallery)))
    assert_array_equal(label_codes(np.array([b"\xe9", b"\xff", b"\xe9"]))[1], [0, 1, 0])


def test_bytes_in_one_file_are_the_strings_of_another(tmp_path):
    np.savez(tmp_path / "query.npz", embeddings=ROWS, labels=np.array([word.encode() for word in "éböé"]))
    (tmp_path / "gallery.csv").write_text("\n".join(f"{word},{i},1,0" for i, word in enumerate("éböx")))
    profile = dh.Task(tmp_path / "query.npz", gallery=tmp_path / "gallery.csv").profile
    assert profile.n_relevant.tolist() == [1, 1, 1, 1]


# Integers that float64 does not hold ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [[ODD, 0.5]] * 4,
        [(0.5, -ODD)] * 4,
        [[2**63 + 1, -5]] * 4,
        [[1.0, 2.0]] * 3 + [[np.int64(ODD), 0.5]],
        pd.DataFrame({"a": [ODD] * 4, "b": [0.5] * 4}),
        pd.DataFrame({"a": [ODD] * 4, "b": [0.5] * 4}).convert_dtypes(),
        pl.DataFrame({"a": [ODD] * 4, "b": [0.5] * 4}),
        pa.table({"a": [ODD] * 4, "b": [0.5] * 4}),
    ],
    ids=["list", "tuples", "both signs", "last row", "pandas", "nullable", "polars", "pyarrow"],
)
def test_an_integer_is_never_rounded(values):
    for name, function, other in (
        ("embeddings", dh.Task, LABELS),
        ("scores", dh.from_scores, np.ones((4, 2), dtype=bool)),
    ):
        message = refusal(ValueError, function, values, other)
        assert message.startswith(f"{name} must fit one type, but float64 does not hold ")


def test_scores_that_a_type_holds_are_taken_and_confidences_are_never_rounded():
    for values in ([[ODD, 1]], [[2**53, 0.5]], [[2**60, 0.5]], [[float(ODD), 0.5]]):
        assert dh.from_scores(values, [[1, 1]]).profile.closer.tolist() == [0, 1]
    rank_correlation = dh.confidence.rank_correlation
    message = refusal(ValueError, rank_correlation, [ODD, 2**53, 0.5], [1, 2, 3])
    assert message == f"confidence must fit one type, but float64 does not hold {ODD}"
    assert rank_correlation([ODD, 2**53, 5], [3, 2, 1]).spearman == 1


# Data frames --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_nullable_frames_without_missing_values_are_taken(backend):
    for values in (ROWS, ROWS + 0.5, ROWS.astype(np.int32), ROWS > 4):
        frame = pd.DataFrame(values).convert_dtypes(dtype_backend=backend)
        taken = plain(frame, "embeddings")
        assert taken.dtype.kind in "biuf"
        assert_array_equal(taken, values)
    bits = pd.DataFrame(ROWS > 4).convert_dtypes(dtype_backend=backend)
    assert dh.Task(bits, LABELS, distance="hamming").profile == dh.Task(ROWS > 4, LABELS, distance="hamming").profile
    for column in (pd.Series(LABELS), pd.Series(["a", "b", "a", "b"])):
        assert dh.Task(ROWS, column.convert_dtypes(dtype_backend=backend)).profile == dh.Task(ROWS, LABELS).profile


def test_columns_of_several_types_stand_side_by_side():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})
    assert_array_equal(plain(frame, "embeddings"), [[1, 0.5, 1], [2, 1.5, 0]])
    twice = pd.DataFrame([[1, 0.5], [2, 1.5]], columns=["a", "a"]).astype(object).convert_dtypes()
    assert_array_equal(plain(twice, "embeddings"), [[1, 0.5], [2, 1.5]])


def test_columns_with_text_and_with_something_missing_are_refused():
    for kind in (pd.DataFrame, pl.DataFrame, pa.table):
        frame = kind({"x": [1.0, 2.0], "label": ["a", "b"]})
        assert "column 'label' has dtype" in refusal(TypeError, embeddings, frame, "embeddings")
    frame = pd.DataFrame({"a": [1.5, None], "b": [1, 2]}).convert_dtypes()
    assert refusal(ValueError, embeddings, frame, "embeddings").startswith("embeddings must be finite")
    assert refusal(ValueError, embeddings, pl.DataFrame({"a": [1, None]}), "embeddings").startswith("embeddings must b")
    marks = pd.DataFrame({"good": [True, None]}, dtype="boolean")
    message = refusal(TypeError, plain, marks, "relevant")
    assert message == "relevant must hold real numbers and none missing, but column 'good' has dtype object"


# What is no array ---------------------------------------------------------------------------------------------------


def test_sparse_matrices_are_refused_but_for_embeddings():
    for sparse in (scipy.sparse.csr_matrix(ROWS), scipy.sparse.coo_array(ROWS)):
        message = refusal(TypeError, embeddings, sparse, "rows")
        assert message == f"rows must be dense, but is a sparse {type(sparse).__name__}: give values.toarray()"
    eye = scipy.sparse.csr_matrix(np.eye(4, dtype=bool))
    assert refusal(TypeError, dh.Task, ROWS, LABELS, junk=eye).startswith("junk must be dense")
    assert refusal(TypeError, dh.from_scores, eye, eye).startswith("scores must be dense")


def test_ragged_rows_are_refused():
    ragged = [[True], [True, False], [True], [True]]
    message = refusal(ValueError, dh.Task, ROWS, LABELS, junk=ragged)
    differ = "its rows differ in length or kind: row 1 has 2 entries and row 0 has 1"
    assert message == f"junk must be a mask, but {differ}"
    assert "rows differ" in refusal(ValueError, dh.from_scores, ROWS, ragged)


def test_tensors_without_numbers_of_their_own_are_refused():
    torch = pytest.importorskip("torch")
    rows = torch.tensor(ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that these kinds of tensor are young, or old
        nested = torch.nested.nested_tensor([rows[0], rows[1, :2]])
        quantized = torch.quantize_per_tensor(rows.float(), 0.1, 0, torch.qint8)
    assert refusal(TypeError, dh.Task, nested, LABELS).startswith("embeddings must be dense")
    assert refusal(TypeError, dh.Task, ROWS, LABELS, junk=rows.bool().to_sparse()).startswith("junk must be dense")
    assert "quantized" in refusal(TypeError, dh.Task, quantized, LABELS)
    meta = torch.empty(4, 4, dtype=torch.bool, device="meta")
    nothing = "must hold numbers, but is a tensor on the device 'meta', which has none"
    assert refusal(TypeError, dh.Task, meta, LABELS) == f"embeddings {nothing}"
    assert refusal(TypeError, dh.Task, ROWS, meta[0]) == f"labels {nothing}"
    assert refusal(TypeError, dh.Task, ROWS, LABELS, junk=meta) == f"junk {nothing}"
    assert refusal(TypeError, dh.from_scores, torch.eye(4), meta) == f"relevant {nothing}"


def test_tensors_are_taken_wherever_their_signs_are():
    torch = pytest.importorskip("torch")
    rows = torch.tensor(ROWS)
    for tensor in (rows, rows.clone().requires_grad_(), (-rows)._neg_view()):
        assert_array_equal(plain(tensor, "embeddings"), ROWS)
    relevant = torch.tensor(LABELS[:, None] == LABELS)
    assert dh.from_scores(rows @ rows.T, relevant).profile == dh.from_scores(ROWS @ ROWS.T, relevant.numpy()).profile
