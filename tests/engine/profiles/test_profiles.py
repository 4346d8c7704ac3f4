"""TieProfile: what it refuses, slicing, parts, adding shards, digest, and files that are whole or refused."""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
import threading
from dataclasses import replace

import numpy as np
import pytest
from engine.counting.keyed import groups_of

import deadheat as dh
from deadheat import TieProfile
from deadheat.engine.profiles import parts
from deadheat.engine.profiles.parts import in_parts
from deadheat.engine.profiles.profile import TieCounts
from deadheat.support import scratch

GROUPS = [[(0, 0, 1, 1), (1, 1, 3, 2)], [], [(4, 0, 2, 1)], [(0, 0, 1, 1), (1, 1, 1, 1), (9, 2, 1, 1)]]


def example(**changes):
    """Four queries, the second without anything relevant."""
    profile = TieProfile.from_groups(GROUPS, n_ranked=[10, 10, 6, 10])
    arrays = {name: getattr(profile, name) for name in (*NAMES, "grades")}
    return TieProfile(**(arrays | changes))


NAMES = ("offsets", "closer", "closer_relevant", "tied", "tied_relevant", "n_ranked", "n_relevant")


def graded(**changes):
    """One query: an item of grade 2 tied with one of grade 1 and one of no grade, then one of grade 1 alone."""
    arrays = {
        "offsets": [0, 2], "closer": [0, 4], "closer_relevant": [0, 2], "tied": [3, 1], "tied_relevant": [2, 1],
        "n_ranked": [5], "n_relevant": [3], "grades": [1, 2], "tied_by_grade": [[1, 1], [1, 0]],
        "relevant_by_grade": [[2, 1]],
    }  # fmt: skip
    return TieProfile(**(arrays | changes))


# What a profile is ----------------------------------------------------------------------------------------------------


def test_from_groups():
    profile = example()
    assert (profile.n_query, len(profile), profile.n_group) == (4, 4, 6)
    assert profile.offsets.tolist() == [0, 2, 2, 3, 6]
    assert groups_of(profile) == GROUPS
    assert profile.n_relevant.tolist() == [3, 0, 1, 3]
    assert profile.query_of_group.tolist() == [0, 0, 2, 3, 3, 3]
    assert {getattr(profile, name).dtype for name in NAMES} == {np.dtype(np.int64)}
    assert profile.tied_by_grade is None


def test_a_profile_of_no_queries():
    empty = TieProfile.from_groups([], n_ranked=[])
    assert (empty.n_query, empty.n_group, empty.ties) == (0, 0, TieCounts(0, 0, 0))
    assert empty + empty == empty


def test_ties_counts_mixed_groups_only():
    assert example().ties == TieCounts(mixed_groups=2, queries=2, largest=3)
    assert TieProfile.from_groups([[(0, 0, 5, 5)]], n_ranked=[5]).ties == TieCounts(0, 0, 0)
    assert graded().ties == TieCounts(mixed_groups=1, queries=1, largest=3)
    all_relevant = graded(tied=[2, 1], closer=[0, 3])
    assert all_relevant.ties == TieCounts(1, 1, 2)  # two grades are a mixture as well


@pytest.mark.parametrize("n_grade", [1, 2, 3])
def test_ties_of_many_groups(n_grade):
    rng = np.random.default_rng(n_grade)
    sizes = rng.integers(0, 6, size=60)
    counts = rng.integers(0, 3, size=(sizes.sum(), n_grade))
    counts[:, 0] += counts.sum(axis=1) == 0
    relevant, nothing = counts.sum(axis=1), np.zeros(60, dtype=int)
    tied = relevant + rng.integers(0, 2, size=len(counts))
    graded = {"tied_by_grade": counts, "relevant_by_grade": np.zeros((60, n_grade), dtype=int)} if n_grade > 1 else {}
    arrays = np.concatenate([[0], np.cumsum(sizes)]), relevant, relevant, tied, relevant, nothing, nothing
    profile = TieProfile(*arrays, np.arange(n_grade) + 1, **graded, check=False)
    mixed = (tied > relevant) | ((counts > 0).sum(axis=1) > 1)
    queries = len(np.unique(profile.query_of_group[mixed]))
    assert profile.ties == TieCounts(int(mixed.sum()), queries, int(tied[mixed].max()))


def test_equality_is_that_of_the_canonical_bytes():
    assert example() == example()
    assert example() != example(n_ranked=[10, 10, 6, 11])
    assert example() != example(bounds_only=True)
    assert example() != graded()
    assert example() != "a string"
    with pytest.raises(TypeError, match="unhashable"):
        hash(example())


@pytest.mark.parametrize(
    ("make", "changes", "rule"),
    [
        (example, {"offsets": [1, 2, 2, 3, 6]}, "begin with 0"),
        (example, {"offsets": []}, "begin with 0"),
        (example, {"offsets": [0, 3, 2, 3, 6]}, "must not decrease"),
        (example, {"offsets": [0, 2, 2, 3, 5]}, "number of groups"),
        (example, {"tied": [1, 3, 2, 1, 1]}, "tied must have one entry per group"),
        (example, {"tied_relevant": [1, 2, 1, 1, 1]}, "tied_relevant must have one entry per group"),
        (example, {"closer_relevant": [0]}, "closer_relevant must have one entry per group"),
        (example, {"n_ranked": [10]}, "n_ranked must have one entry per query"),
        (example, {"n_relevant": [3, 0, 1]}, "n_relevant must have one entry per query"),
        (example, {"tied_relevant": [0, 2, 1, 1, 1, 1]}, "at least 1"),
        (example, {"tied": [1, 1, 2, 1, 1, 1]}, "less than tied_relevant"),
        (example, {"closer": [0, 0, 4, 0, 1, 9]}, "less than"),
        (example, {"closer_relevant": [-1, 1, 0, 0, 1, 2]}, "negative"),
        (example, {"n_ranked": [3, 10, 6, 10]}, "more than n_ranked"),
        (example, {"n_relevant": [2, 0, 1, 3]}, "more relevant items than n_relevant"),
        (example, {"closer": [0, 1, 4, 0, 1, 1], "closer_relevant": [0, 1, 0, 0, 1, 1]}, "closer"),
        (example, {"tied_by_grade": np.ones((6, 1), dtype=int)}, "together"),
        (example, {"closer_relevant": [0, 0, 0, 0, 1, 2]}, "closer_relevant"),  # one relevant item is closer
        (example, {"closer_relevant": [0, 1, 1, 0, 1, 2]}, "closer_relevant"),  # none is
        (example, {"closer": [0.5, 1, 4, 0, 1, 9]}, "closer"),
        (example, {"closer": np.array([0, 1, 4, 0, 1, 9.0])[:, None]}, "closer"),
        (example, {"n_ranked": np.array([10, 10, 6, 2**63 + 5], dtype=np.uint64)}, "n_ranked"),
        (example, {"offsets": [[0, 2, 2, 3, 6]]}, "offsets"),
        (example, {"query_ids": ("a", "b")}, "query_ids"),
        (graded, {"tied_by_grade": None}, "together"),
        (graded, {"tied_by_grade": [[1, 1, 0], [1, 0, 0]]}, "n_group, n_grade"),
        (graded, {"relevant_by_grade": [[2, 1], [0, 0]]}, "n_query, n_grade"),
        (graded, {"tied_by_grade": [[1, 1], [0, 0]]}, "add up"),
        (graded, {"relevant_by_grade": [[9, 1]]}, "add up"),
    ],
)
def test_arrays_that_contradict_each_other_or_are_of_the_wrong_kind_are_refused(make, changes, rule):
    with pytest.raises((ValueError, TypeError), match=rule) as caught:
        make(**changes)
    assert "\n" not in str(caught.value)


def test_windows_of_a_tolerance_may_overlap():
    changes = {"closer": [0, 1, 4, 0, 1, 2], "tied": [5, 6, 2, 5, 5, 5], "closer_relevant": [0, 1, 0, 0, 1, 2]}
    with pytest.raises(ValueError, match="group before"):
        example(**changes)
    assert example(**changes, bounds_only=True).bounds_only


# Slicing --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "chosen"),
    [
        (0, [0]), (-1, [3]), (np.int64(2), [2]), (slice(1, 3), [1, 2]), (slice(None, None, -1), [3, 2, 1, 0]),
        (np.array([True, False, True, False]), [0, 2]), (np.array([3, 0, 0]), [3, 0, 0]), ([2, 1], [2, 1]),
        (slice(0, 0), []), ([], []), (np.zeros(4, dtype=bool), []), (..., [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_slicing_takes_whole_queries(index, chosen):
    part = example(query_ids=("a", "b", "c", "d"))[index]
    assert groups_of(part) == [GROUPS[i] for i in chosen]
    assert part.n_ranked.tolist() == [[10, 10, 6, 10][i] for i in chosen]
    assert part.n_relevant.tolist() == [[3, 0, 1, 3][i] for i in chosen]
    assert part.query_ids == tuple("abcd"[i] for i in chosen)


def test_slicing_keeps_grades_and_the_kind():
    names = (*NAMES[1:], "tied_by_grade", "relevant_by_grade")
    twice = {name: np.concatenate([getattr(graded(), name)] * 2) for name in names}
    two = TieProfile(**twice, offsets=[0, 2, 4], grades=[1, 2], bounds_only=True)
    assert two[1] == graded(bounds_only=True)


@pytest.mark.parametrize("index", [4, -5, [0, 4], np.ones(3, dtype=bool), "a", 0.5])
def test_an_index_out_of_range_is_an_index_error(index):
    with pytest.raises(IndexError):
        example()[index]


def test_what_was_not_returned_in_its_best_order():
    """Two relevant items are among four in no known order, behind one; of the others nothing irrelevant is there."""
    groups = [[(0, 0, 1, 1), (2, 1, 4, 2)], [(0, 0, 2, 1)], [(2, 0, 3, 3)]]
    whole = TieProfile.from_groups(groups, n_ranked=[6, 6, 5])
    cut = replace(whole, n_ordered=np.array([2, 2, 2]))
    assert (whole.n_cut, cut.n_cut) == (0, 1)
    assert cut.ties == TieCounts(1, 1, 2)
    assert groups_of(cut.best_completed()) == [[(0, 0, 1, 1), (2, 1, 2, 2)], [(0, 0, 2, 1)], [(2, 0, 3, 3)]]
    by_grade = replace(
        cut[:2], grades=np.array([1, 3]), tied_by_grade=np.array([[1, 0], [1, 1], [0, 1]]),
        relevant_by_grade=np.array([[2, 1], [0, 1]]),
    )  # fmt: skip
    best = by_grade.best_completed()
    assert groups_of(best) == [[(0, 0, 1, 1), (2, 1, 1, 1), (3, 2, 1, 1)], [(0, 0, 2, 1)]]
    assert best.tied_by_grade.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    with pytest.raises(ValueError, match="n_ordered must be the end of one group"):
        replace(cut, n_ordered=np.array([3, 2, 2]))


# Adding ---------------------------------------------------------------------------------------------------------------


def test_adding_shards_adds_what_is_irrelevant():
    """Relevant items at distances 1 and 3; irrelevant ones at 1 and 2 in one shard, at 0, 3, 3 and 9 in the other."""
    one = TieProfile.from_groups([[(0, 0, 2, 1), (3, 1, 1, 1)]], n_ranked=[4])
    two = TieProfile.from_groups([[(1, 0, 1, 1), (2, 1, 3, 1)]], n_ranked=[6])
    both = TieProfile.from_groups([[(1, 0, 2, 1), (4, 1, 3, 1)]], n_ranked=[8])
    assert one + two == two + one == both
    nothing = TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 1, 1)]], n_ranked=[2])
    assert one + nothing == one
    assert (one + two) + nothing == one + (two + nothing)


def test_adding_keeps_grades():
    both = graded() + graded()
    assert (both.closer.tolist(), both.tied.tolist(), both.n_ranked.tolist()) == ([0, 6], [4, 1], [7])
    assert both.tied_by_grade.tolist() == graded().tied_by_grade.tolist()


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (example(bounds_only=True), "bounds_only"), (example(n_relevant=[4, 0, 1, 3]), "n_relevant"),
        (example()[:3], "offsets"), (graded(), "offsets"), (example(grades=[2]), "grades"),
        (TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 3, 1)], *GROUPS[1:]], [10, 10, 6, 10], [3, 0, 1, 3]),
         "tied_relevant"),
    ],
)  # fmt: skip
def test_shards_with_other_relevant_items_are_refused(other, name):
    with pytest.raises(ValueError, match=name) as caught:
        example() + other
    assert "\n" not in str(caught.value)


# Digest ---------------------------------------------------------------------------------------------------------------


def test_the_digest_of_a_profile_made_by_hand_is_pinned():
    """A change of these digits breaks every receipt that anyone has kept."""
    assert example().digest() == "041c164c85ef6dd0cea8155a3ea03645c7af30e93e7dd5a31c0372c1aea855d3"
    assert example(bounds_only=True).digest() == "b1de3c81af3df3aa174412f95a300df5c911b03afc8e1bc78be22b2a3b020757"
    assert graded().digest() == "ba236a21afadd65e24252d3afaace7e035f7b80328439d60aee88f939d78afe0"


def test_the_digest_is_of_the_documented_bytes():
    content = b"deadheat.TieProfile 1\nexact\n"
    for name, values in [
        ("offsets", (0, 2)), ("closer", (0, 4)), ("closer_relevant", (0, 2)), ("tied", (3, 1)),
        ("tied_relevant", (2, 1)), ("n_ranked", (5,)), ("n_relevant", (3,)), ("grades", (1, 2)),
    ]:  # fmt: skip
        content += f"{name} {len(values)}\n".encode() + struct.pack(f"<{len(values)}q", *values) + b"\n"
    content += b"tied_by_grade 2 2\n" + struct.pack("<4q", 1, 1, 1, 0) + b"\n"
    content += b"relevant_by_grade 1 2\n" + struct.pack("<2q", 2, 1) + b"\n"
    assert graded().digest() == hashlib.sha256(content).hexdigest()


def test_the_digest_does_not_depend_on_how_the_integers_came():
    expected = example().digest()
    for form in (np.int32, np.uint8, ">i8", object):
        arrays = {name: getattr(example(), name).astype(form) for name in NAMES}
        assert example(**{name: a.tolist() if form is object else a for name, a in arrays.items()}).digest() == expected
    assert example(closer=np.repeat(example().closer, 2)[::2]).digest() == expected
    assert example(query_ids=("a", "b", "c", "d")).digest() == expected


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["p.npz", "no suffix", "ü.profile"])
@pytest.mark.parametrize(
    "profile",
    [example(), example(query_ids=("a", "ü", "", "10")), graded(), example(bounds_only=True),
     TieProfile.from_groups([], n_ranked=[])],
)  # fmt: skip
def test_a_saved_profile_comes_back(profile, name, tmp_path):
    profile.save(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    for path in (tmp_path / name, str(tmp_path / name)):
        loaded = TieProfile.load(path)
        assert loaded == profile
        assert loaded.digest() == profile.digest()
        assert (loaded.query_ids, loaded.bounds_only) == (profile.query_ids, profile.bounds_only)


def test_a_new_file_respects_the_umask_and_an_old_one_keeps_its_permissions(tmp_path):
    (tmp_path / "old.npz").write_text("what was here before")
    (tmp_path / "old.npz").chmod(0o604)
    before = os.umask(0o027)
    try:
        example().save(tmp_path / "new.npz")
        example().save(tmp_path / "old.npz")
    finally:
        os.umask(before)
    for name, mode in (("new.npz", 0o640), ("old.npz", 0o604)):
        assert TieProfile.load(tmp_path / name) == example()
        assert (tmp_path / name).stat().st_mode & 0o777 == mode


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_written_and_not_replaced(tmp_path):
    pipe, copy = tmp_path / "pipe", tmp_path / "copy.npz"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
    reader.start()
    example().save(pipe)
    reader.join(timeout=30)
    assert pipe.is_fifo()
    assert TieProfile.load(copy) == example()


def refused(path):
    with pytest.raises(ValueError, match=r"profile|damaged") as caught:
        TieProfile.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "saved.npz"
    example(query_ids=("a", "b", "c", "d")).save(path)
    return path


def test_a_truncated_file_is_refused_wherever_it_was_cut(saved):
    content = saved.read_bytes()
    for size in [*range(0, len(content), 97), len(content) - 1]:
        saved.write_bytes(content[:size])
        refused(saved)


@pytest.mark.slow
def test_a_file_with_a_damaged_byte_is_refused_or_the_same(saved):
    content = saved.read_bytes()
    for position in range(0, len(content), 17):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        saved.write_bytes(damaged)
        try:
            loaded = TieProfile.load(saved)
        except ValueError:
            refused(saved)
        else:
            assert loaded == example()


def rewrite(path, **changes):
    """The same archive with some arrays replaced, or left out where they are None."""
    with np.load(path) as archive:
        content = dict(archive) | changes
    np.savez(path, **{name: value for name, value in content.items() if value is not None})


@pytest.mark.parametrize(
    "changes",
    [
        {"closer": np.array([0, 1, 3, 0, 1, 9])}, {"n_ranked": np.array([10, 10, 6, 11])}, {"digest": "0" * 64},
        *({name: None} for name in ("digest", "closer", "offsets", "format")), {"format": "deadheat.TieProfile 2"},
        {"surplus": np.zeros(3)}, {"closer": np.array(["x"] * 6)}, {"tied": np.array(3)},
        {"bounds_only": np.array(True)}, {"bounds_only": np.array([True, False])},
        {"offsets": np.array([], dtype=np.int64)}, {"tied_relevant": np.array([0, 2, 1, 1, 1, 1])},
        {"closer": np.array([0.5, 1, 4, 0, 1, 9])}, {"query_ids": np.array([["a"]])}, {"query_ids": np.array(["a"])},
    ],
    ids=lambda changes: " ".join(f"{name} {np.asarray(value).tolist()}" for name, value in changes.items()),
)  # fmt: skip
def test_a_tampered_archive_is_refused(changes, saved):
    rewrite(saved, **changes)
    refused(saved)


class Trap:
    """Unpickling one of these runs code."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_foreign_files_and_pickles_are_refused_and_not_run(tmp_path, saved):
    path, trap = tmp_path / "foreign", np.array([Trap()], dtype=object)
    text, some = b"query,label\n1,2\n", bytes(range(256)) * 9
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY", text, some, pickle.dumps(Trap())):
        path.write_bytes(content)
        refused(path)
    for array in (np.eye(3), trap):
        with path.open("wb") as file:
            np.save(file, array, allow_pickle=True)
        refused(path)
    with path.open("wb") as file:
        np.savez(file, embeddings=np.eye(3), labels=np.arange(3))
    assert "tie profile of this version" in refused(path)
    for name in ("closer", "format", "digest", "query_ids"):
        example(query_ids=tuple("abcd")).save(saved)
        rewrite(saved, **{name: trap})
        refused(saved)


def test_paths_that_cannot_be_read_or_written_are_os_errors_and_nothing_is_left(tmp_path):
    for path in (tmp_path / "absent.npz", tmp_path):
        with pytest.raises(OSError, match=tmp_path.name):
            TieProfile.load(path)
    (tmp_path / "file").write_text("a file, not a folder")
    for path in (tmp_path / "no folder" / "p.npz", tmp_path, tmp_path / "file" / "p.npz"):
        with pytest.raises(OSError, match=r"\S") as caught:
            example().save(path)
        assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]


MEASURES = ["mAP", "mAP@7", "MAP@R", "Hit@3", "MRR", "mINP", "nDCG@5", "nDCG", "AUC", "P@4", "R-Precision", "Recall@9"]


def found(profile: dh.TieProfile) -> list[object]:
    report = dh.evaluate(profile, MEASURES, threads=2)
    values = [(*report[name].per_query, report[name].std_per_query) for name in MEASURES]
    return [np.array(values).tobytes(), profile.ties, profile.digest()]


RNG = np.random.default_rng(0)
ROWS, LABELS = RNG.integers(0, 3, (90, 3)), RNG.integers(0, 12, 90)
ROWS[:7], LABELS[:7] = 0, 40 + np.arange(7)  # singletons


@pytest.fixture
def profiles() -> list[dh.TieProfile]:
    rng = np.random.default_rng(1)
    grades = rng.integers(0, 4, (40, 30))
    return [
        dh.Task(ROWS, LABELS, distance="euclidean").profile,
        dh.Task(ROWS, LABELS, junk=rng.random((90, 90)) < 0.3).profile,
        dh.Task(ROWS * 1.5, LABELS, ties=dh.Tolerance(0.5)).profile,
        dh.from_scores(rng.integers(0, 5, (40, 30)), grades).profile,
    ]


@pytest.mark.parametrize("most", [1, 50])
def test_in_parts(most: int, profiles: list[dh.TieProfile], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [found(profile) for profile in profiles]
    monkeypatch.setattr(parts, "MOST_GROUPS", most)
    assert all(len(list(in_parts(profile))) > 2 for profile in profiles)
    for profile in profiles:
        profile.__dict__.pop("ties", None)
    assert [found(profile) for profile in profiles] == wanted


def test_in_files(profiles: list[dh.TieProfile], monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(scratch, "WORTH_A_FILE", 0)
    monkeypatch.setattr(parts, "MOST_GROUPS", 30)
    profile = dh.Task(ROWS, LABELS, distance="euclidean").profile
    assert profile == profiles[0]
    assert found(profile) == found(profiles[0])
    profile.save(f"{tmp_path}/profile.npz")
    assert dh.TieProfile.load(f"{tmp_path}/profile.npz") == profile
    assert profile[5:9] == profiles[0][5:9]
    assert profile + profile == profiles[0] + profiles[0]
