"""Several labels a row, against scores with the relevance matrix written out; and what does not change a digest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import deadheat as dh
from deadheat.cli.main import main
from deadheat.engine import count
from deadheat.engine.counting import chunks, histograms

DISTANCES = ("hamming", "euclidean", "cityblock")


def drawn(seed: int) -> dict[str, Any]:
    """Codes with labels, with or without a gallery, junk and rows to exclude."""
    rng = np.random.default_rng(seed)
    n_query, n_gallery, n_label, dim = (
        int(rng.integers(low, high)) for low, high in ((1, 30), (2, 40), (2, 140), (1, 20))
    )
    alone = seed % 3 == 0 and n_query > 1
    n_item = n_query if alone else n_gallery
    junk = (None, rng.random(n_item) < 0.2, rng.random((n_query, n_item)) < 0.2)[seed % 4 % 3]
    shares = rng.choice([0.02, 0.1, 0.4], 2)
    return {
        "codes": rng.random((n_query, dim)) < 0.5, "labels": rng.random((n_query, n_label)) < shares[0],
        "items": None if alone else rng.random((n_gallery, dim)) < 0.5,
        "item_labels": None if alone else rng.random((n_gallery, n_label)) < shares[1],
        "junk": junk, "exclude": None if alone else rng.integers(-1, n_gallery, n_query),
    }  # fmt: skip


def written_out(made: dict[str, Any], relevance: str) -> dh.TieProfile:
    """The profile of a matrix of distances and one of relevance."""
    codes, labels = made["codes"], made["labels"].astype(int)
    alone = made["items"] is None
    items, of_items = (codes, labels) if alone else (made["items"], made["item_labels"].astype(int))
    distances, shared = (codes[:, None] != items[None]).sum(axis=2), labels @ of_items.T
    junk = np.zeros(shared.shape, dtype=bool) | (False if made["junk"] is None else made["junk"])
    own = np.arange(len(codes)) if alone else made["exclude"]
    inside = np.flatnonzero(own >= 0)
    junk[inside, own[inside]] = True
    relevant = {"any": shared > 0, "count": shared}[relevance]
    return dh.from_scores(distances, relevant, order="ascending", junk=junk).profile


@pytest.mark.parametrize("relevance", ["any", "count"])
@pytest.mark.parametrize("seed", range(24))
def test_counts_are_those_of_the_relevance_written_out(
    seed: int, relevance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under Hamming distance by histograms, else by passes; in blocks of any size."""
    rng, made = np.random.default_rng(seed), drawn(seed)
    expected = written_out(made, relevance)
    for distance in DISTANCES:
        for name, sizes in {"PAIRS": (1, 50, 1 << 22), "CELLS": (1, 100, 1 << 23)}.items():
            monkeypatch.setattr(chunks, name, int(rng.choice(sizes)))
        monkeypatch.setattr(histograms, "CELLS", int(rng.choice([1, 999, 1 << 22])))
        kind = bool if distance == "hamming" else float
        rows = [None if each is None else each.astype(kind) for each in (made["codes"], made["items"])]
        task = dh.Task(
            rows[0],
            made["labels"],
            rows[1],
            made["item_labels"],
            distance=distance,  # type: ignore[arg-type]
            junk=made["junk"],
            exclude=made["exclude"],
            relevance=relevance,
        )  # type: ignore[arg-type]
        assert task.profile == expected
        assert task.profile.digest() == expected.digest()


CODES = np.random.default_rng(1).random((40, 8)) < 0.5
SEVERAL = np.random.default_rng(2).random((40, 5)) < 0.3
ONE = np.random.default_rng(3).integers(0, 6, 40)


def digest(labels: Any, **settings: Any) -> str:
    return dh.Task(CODES, labels, distance="hamming", **settings).profile.digest()


def test_one_label_a_row_written_as_one_hot_is_that_label() -> None:
    hot = np.eye(6, dtype=int)[ONE]
    for relevance in (None, "any", "same", "count"):
        assert digest(hot, relevance=relevance) == digest(ONE)
    points = CODES + 0.5
    assert dh.Task(points, hot).profile == dh.Task(points, ONE).profile


def test_forms_orders_and_copies_of_labels_change_nothing() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    expected, names = digest(SEVERAL), np.array(["cat", "dog", "pet", "sky", "sea"])
    sets = [set(names[row].tolist()) for row in SEVERAL]
    for same in (
        SEVERAL.astype(np.int8), SEVERAL.astype(np.float32), SEVERAL[:, ::-1], SEVERAL[:, [0, 1, 1, 2, 3, 4, 4]],
        sparse.csr_matrix(SEVERAL), sparse.coo_array(SEVERAL.astype(int)), sets, [sorted(each) for each in sets],
        [tuple(np.flatnonzero(row).tolist()) for row in SEVERAL],
    ):  # fmt: skip
        assert digest(same) == expected
    assert digest(np.hstack([SEVERAL, np.zeros((40, 200), dtype=bool)])) == expected


def test_sets_of_queries_and_gallery_are_compared_by_name() -> None:
    task = dh.Task([[0.0], [1.0]], [{"a"}, {"b", "c"}], [[0.0], [1.0], [2.0]], [["c", "d"], [], ["a"]])
    assert task.profile.n_relevant.tolist() == [1, 1]
    assert repr(task) == "Task(2 × 1 float64, 3 labels, gallery 3 × 1 float64, cosine, ties exact)".replace(
        "3 labels", "4 labels"
    )


def test_the_same_set_is_a_class_and_a_row_without_labels_is_alone() -> None:
    labels = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]])
    points = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    same = dh.Task(points, labels, distance="euclidean", relevance="same").profile
    assert same.n_relevant.tolist() == [1, 1, 0, 0, 0]
    shared = dh.Task(points, labels, distance="euclidean").profile
    assert shared.n_relevant.tolist() == [2, 2, 2, 0, 0]
    counted = dh.Task(points, labels, distance="euclidean", relevance="count").profile
    assert counted.relevant_by_grade is not None
    assert (counted.grades.tolist(), counted.relevant_by_grade.tolist()[0]) == ([1, 2], [1, 1])


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        (SEVERAL * 2, {}, "labels must hold 0 and 1 alone where a row has several, but row 0 has another"),
        (
            np.where(SEVERAL, np.nan, 0.0),
            {},
            "labels must hold 0 and 1 alone where a row has several, but row 0 has another",
        ),
        (SEVERAL.astype(str), {}, "labels must hold 0 and 1 alone where a row has several, but has dtype <U5"),
        (SEVERAL[:39], {}, "labels must have one entry per row of embeddings, but got labels of 39 rows for 40 rows"),
        ([{1, "a"}] * 40, {}, "labels must be all integers or all strings, but holds a mixture of both"),
        (
            ONE,
            {"relevance": "any"},
            "relevance must be left out unless a row has several labels, but is 'any', and labels",
        ),
        (SEVERAL, {"relevance": "all"}, "relevance must be one of any, same, count, but is 'all'"),
        (SEVERAL, {"checkpoint": "folder"}, "checkpoint must be left out where a row has several labels"),
    ],
)
def test_labels_that_cannot_be_are_refused_in_one_line(labels: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        dh.Task(CODES, labels, distance="hamming", **settings)
    assert str(caught.value).startswith(message)


def test_queries_and_gallery_have_labels_of_one_form() -> None:
    both = "labels and gallery_labels must"
    for of_gallery, message in (
        (SEVERAL[:, :3], f"{both} have as many columns, but have 5 and 3"),
        (
            ONE,
            "labels and gallery_labels must both have one label a row, or both several, but labels alone have several",
        ),
        ([{1}] * 40, f"{both} both be matrices or both be sets of labels"),
    ):
        with pytest.raises((ValueError, TypeError)) as caught:
            dh.Task(CODES, SEVERAL, ~CODES, of_gallery, distance="hamming")
        assert str(caught.value) == message


@pytest.mark.parametrize("question", [dh.grouped, dh.split_half])
def test_questions_of_classes_want_one_label_a_row(question: Any) -> None:
    task = dh.Task(CODES, SEVERAL, distance="hamming")
    with pytest.raises(TypeError) as caught:
        question(task)
    assert str(caught.value).startswith("labels must be one a row for ")
    assert str(caught.value).endswith('or relevance must be "same", but rows have several')


def test_files_and_the_command_take_them(tmp_path: Path) -> None:
    path = tmp_path / "codes.npz"
    np.savez(path, embeddings=CODES, labels=SEVERAL)
    np.save(tmp_path / "labels.npy", SEVERAL.astype(np.uint8))
    assert dh.Task(path, distance="hamming").profile.digest() == digest(SEVERAL)
    assert dh.Task(CODES, tmp_path / "labels.npy", distance="hamming").profile.digest() == digest(SEVERAL)
    words = ["evaluate", str(path), "--distance", "hamming", "-m", "nDCG@5", "--relevance", "count"]
    done = CliRunner().invoke(main, words)
    value = dh.evaluate(dh.Task(path, distance="hamming", relevance="count"), "nDCG@5")["nDCG@5"]
    assert done.exit_code == 0, done.output
    assert f"{100 * value.expected:.2f}" in done.stdout
    for question in ("exploit", "collisions"):
        result = getattr(dh, question)(dh.Task(path, distance="hamming"))
        done = CliRunner().invoke(main, [question, str(path), "--distance", "hamming"])
        assert (done.exit_code, done.stdout.split()[:12]) == (0, str(result).split()[:12])
    refused = CliRunner().invoke(main, ["grouped", str(path), "--distance", "hamming"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)


def test_columns_of_lists_and_tables_of_labels(tmp_path: Path) -> None:
    pa, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = np.array(["cat", "dog", "pet", "sky", "sea"])
    rows, expected = [names[row].tolist() for row in SEVERAL], dh.Task(CODES + 0.5, SEVERAL).profile
    points = (CODES + 0.5).tolist()
    for labels in (pandas.Series(rows), pa.array(rows), pandas.DataFrame(SEVERAL.astype(int))):
        assert dh.Task(points, labels).profile == expected
    for of_labels in (rows, [np.flatnonzero(row).tolist() for row in SEVERAL]):
        parquet.write_table(pa.table({"embedding": points, "labels": of_labels}), tmp_path / "both.parquet")
        assert dh.Task(tmp_path / "both.parquet").profile == expected
    np.savetxt(tmp_path / "labels.csv", SEVERAL, fmt="%d", delimiter=",", header=",".join(names), comments="")
    assert dh.Task(points, tmp_path / "labels.csv").profile == expected


def test_relevance_can_be_replaced_in_every_direction() -> None:
    tasks = {each: dh.Task(CODES, SEVERAL, distance="hamming", relevance=each) for each in ("any", "same", "count")}
    for before in tasks.values():
        assert before.replace(distance="hamming").profile.digest() == before.profile.digest()
        for relevance, after in tasks.items():
            assert before.replace(relevance=relevance).profile.digest() == after.profile.digest()


@pytest.mark.parametrize("question", [dh.grouped, dh.split_half, dh.exploit, dh.collisions, dh.audit, dh.receipt])
def test_equal_sets_of_labels_are_classes_for_every_question(question: Any) -> None:
    sets = np.eye(8, dtype=bool)[np.arange(40) % 8] | np.eye(8, dtype=bool)[np.arange(40) % 8 // 2]
    task = dh.Task(CODES, sets, distance="hamming", relevance="same")
    settings = {"group_size": 2} if question in (dh.grouped, dh.split_half) else {}
    one = dh.Task(CODES, sets @ (1 << np.arange(8)), distance="hamming")  # in the same order of classes
    first, second = (question(each, **settings) for each in (task, one))
    if question is not dh.receipt:
        assert str(first) == str(second)
    else:
        assert first.content["profile"] == second.content["profile"]


@pytest.mark.parametrize("n_bit", [1, 3, 15, 16, 31, 63, 64, 65, 127, 130, 300, 4032, 4033])
def test_histograms_of_codes_are_what_the_pass_counts(n_bit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(n_bit)
    codes, labels = rng.random((1300, n_bit)) < rng.random(n_bit), rng.integers(0, 3, 1300) * 7
    codes[:, 0] = True  # a bit that no two differ in
    gallery = codes[200:], labels[200:]
    separate = ~codes[:200], rng.integers(0, 4, 200) * 7, *gallery  # also in the bit that all items share
    several_labels = rng.random((200, 70)) < 0.1, gallery[0], rng.random((1100, 70)) < 0.1
    settings: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((codes, labels), {}),
        (separate, {"exclude": rng.integers(-1, 1100, 200)}),
        ((codes[:200], labels[:200], *gallery), {"junk": rng.random(1100) < 0.2, "exclude": np.full(200, -1)}),
        ((codes[:300], np.arange(300) % 150), {"junk": rng.random((300, 300)) < 0.2}),
        ((~codes[:200], *several_labels), {"exclude": np.full(200, -1)}),
    ]
    for data, options in settings:
        result = []
        for short in (4096, 0):
            monkeypatch.setattr(count, "SHORT_CODE", short)
            result.append(dh.Task(*data, distance="hamming", **options).profile.digest())
        monkeypatch.undo()
        assert result[0] == result[1]


def test_queries_without_labels_and_items_with_sets_of_labels() -> None:
    profile = dh.Task(CODES[:2], [set(), set()], CODES, [{"a", "b"}] * 40, distance="hamming").profile
    assert profile.n_relevant.tolist() == [0, 0]
