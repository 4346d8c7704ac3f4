"""Pairs by rules on metadata: the mask written out by definition gives the same digest, in however many parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.engine.counting import within
from deadheat.inputs import pair_rules

pd: Any = pytest.importorskip("pandas")
pl: Any = pytest.importorskip("polars")
pa: Any = pytest.importorskip("pyarrow")

POSITIVES = {"same": ["compound"], "different": ["plate"]}
NEGATIVES = {"same": ["plate"], "different": ["compound"]}


def cells(n: int = 60, seed: int = 0) -> tuple[Any, dict[str, list[Any]]]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, (n, 3))  # full of ties
    metadata = {
        "compound": [f"c{i}" for i in rng.integers(0, 6, n)],
        "plate": rng.integers(0, 4, n).tolist(),
        "batch": [["x", "y"][i] for i in rng.integers(0, 2, n)],
    }
    return rows, metadata


def follows(rule: dict[str, Any], metadata: dict[str, list[Any]], i: int, j: int) -> bool:
    same, different = ([s] if isinstance(s, str) else s for s in (rule.get("same", []), rule.get("different", [])))
    values = {name: (column[i], column[j]) for name, column in metadata.items()}
    return all(len({*values[c]}) == 1 for c in same) and all(len({*values[c]}) == 2 for c in different)


def written_out(rows: Any, metadata: dict[str, list[Any]], positives: Any, negatives: Any, **settings: Any) -> dh.Task:
    """The same task with labels and a mask, pair by pair."""
    every, same = range(len(rows)), positives["same"]
    names = [same] if isinstance(same, str) else same
    labels = ["/".join(str(metadata[name][i]) for name in names) for i in every]
    junk = [
        [not follows(positives, metadata, i, j) and not follows(negatives, metadata, i, j) for j in every]
        for i in every
    ]
    return dh.Task(rows, labels, junk=junk, **settings)


RULES: list[tuple[Any, Any]] = [
    (POSITIVES, NEGATIVES),
    ({"same": "compound"}, {"different": "compound"}),
    ({"same": ["compound", "batch"], "different": "plate"}, {"same": "plate", "different": ["batch", "compound"]}),
    ({"same": ["compound"]}, {"same": ["plate", "batch"], "different": ["compound"]}),
]


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("rules", RULES)
def test_the_mask_written_out_has_the_same_digest(rules: Any, few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if few:
        monkeypatch.setattr(within, "CELLS", 240)
        monkeypatch.setattr(pair_rules, "_FEWEST", 5)
    rows, metadata = cells()
    positives, negatives = rules
    for settings in ({}, {"distance": "euclidean"}, {"ties": "float16"}, {"ties": dh.Tolerance(0.1)}):
        task = dh.Task.from_metadata(rows, metadata, positives=positives, negatives=negatives, **settings)
        expected = written_out(rows, metadata, positives, negatives, **settings)
        assert task.profile.digest() == expected.profile.digest()
        assert (task.profile.tied > task.profile.tied_relevant).any()
    assert len(set(task.labels.tolist())) == len(set(expected.labels.tolist()))


def test_a_part_has_only_the_rows_that_it_needs() -> None:
    n = 4096
    metadata = {"compound": np.arange(n) // 4, "plate": np.arange(n) // 256}
    _, rules = pair_rules.open_rules(metadata, n, {"same": "compound"}, {"same": "plate", "different": "compound"})
    parts = rules.parts(n)
    assert [len(rows) for rows, _ in parts] == [256] * 16
    assert [len(items) for _, items in parts] == [256] * 16
    assert sorted(np.concatenate([rows for rows, _ in parts]).tolist()) == list(range(n))


def test_frames_and_dictionaries_are_one() -> None:
    rows, metadata = cells()
    frames = [
        pd.DataFrame(metadata),
        pd.DataFrame(metadata).astype("category"),
        pl.DataFrame(metadata),
        pa.table(metadata),
    ]
    digests = {
        dh.Task.from_metadata(rows, each, positives=POSITIVES, negatives=NEGATIVES).profile.digest()
        for each in [metadata, {name: np.array(column) for name, column in metadata.items()}, *frames]
    }
    assert len(digests) == 1


def test_other_questions_write_the_mask() -> None:
    rows, metadata = cells()
    task = dh.Task.from_metadata(rows, metadata, positives=POSITIVES, negatives=NEGATIVES)
    expected = written_out(rows, metadata, POSITIVES, NEGATIVES)
    for ask in (
        lambda t: dh.grouped(t, group_size=3, measures="mAP")["mAP"].expected,
        lambda t: dh.exploit(t, measure="mAP", seed=1).highest.value,
        lambda t: str(dh.audit(t)),
        lambda t: t.replace(distance="euclidean").profile.digest(),
        lambda t: dh.receipt(t).content["inputs"]["junk"],
    ):
        assert ask(task) == ask(expected)


def test_what_is_checkpointed_is_the_same(tmp_path: Any) -> None:
    rows, metadata = cells()
    task = dh.Task.from_metadata(rows, metadata, positives=POSITIVES, negatives=NEGATIVES)
    assert task.replace(checkpoint=tmp_path / "kept").profile.digest() == task.profile.digest()


@pytest.mark.parametrize(("changed", "message"), [
    ({"positives": ["compound"]}, "positives must be a dictionary with 'same' and 'different', but is ['compound']"),
    ({"positives": {"sameby": ["compound"]}},
     "positives must have no other names than 'same' and 'different', but has 'sameby'"),
    ({"positives": {"different": ["plate"]}},
     "negatives must have a column under 'different' that positives have under 'same', so that no pair is both, "
     "but have 1 ('compound') and 0 ()"),
    ({"negatives": {"same": "plate"}},
     "negatives must have a column under 'different' that positives have under 'same', so that no pair is both, "
     "but have 0 () and 1 ('compound')"),
    ({"negatives": {"different": ["compound", "well"]}},
     "metadata must have the columns of the rules, but has no 'well'"),
    ({"metadata": [1, 2]}, "metadata must be a data frame or a dictionary of columns, but is of type list"),
    ({"metadata": {"compound": ["a", None], "plate": [1, 2]}},
     "metadata['compound'] must be all integers or all strings, but holds an entry of type NoneType in row 1"),
    ({"metadata": {"compound": ["a"], "plate": [1, 2]}},
     "metadata['compound'] must have one entry per row of embeddings, but got 1 labels for 2 rows"),
])  # fmt: skip
def test_refusals(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "metadata": {"compound": ["a", "b"], "plate": [1, 2]},
        "positives": POSITIVES,
        "negatives": NEGATIVES,
    }
    with pytest.raises((ValueError, TypeError)) as caught:
        dh.Task.from_metadata(np.eye(2), **{**given, **changed})
    assert str(caught.value) == message
