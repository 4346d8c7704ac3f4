"""Memory of a run: it grows neither with ties, nor with relevant pairs, nor with the dimension."""

import os
import subprocess
import sys

import numpy as np
import pytest
from keyed import profiled

import deadheat as dh
from deadheat.engine.profiles import archive, packed
from deadheat.engine.profiles import profile as profile_module
from deadheat.engine.profiles.packed import PackedGroups
from deadheat.errors import StorageError
from deadheat.support import scratch

_GROWTH = """
import sys
import numpy as np
import deadheat as dh
rng = np.random.default_rng(0)
dh.evaluate(rng.standard_normal((300, 8), dtype="f"), np.arange(300) % 5)
kinds = {
    "ties": (rng.integers(-2, 3, (5000, 64)).astype("f"), np.arange(5000) % 2, "exact"),
    "rounded": (rng.integers(-2, 3, (3000, 64)).astype("f"), np.arange(3000) % 2, "float16"),
    "long rows": (rng.standard_normal((128, 100_000), dtype="f"), np.arange(128) % 8, "exact"),
}
embeddings, labels, ties = kinds[sys.argv[1]]
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
report = dh.evaluate(embeddings, labels, ties=ties, threads=2)
report.profile.digest()
print((status("VmHWM") - before) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the high-water mark is reset in Linux's way")
@pytest.mark.parametrize(("kind", "before"), [("ties", 469), ("rounded", 287), ("long rows", 315)])
def test_an_evaluation_takes_at_most_so_much_memory(kind, before):
    done = subprocess.run([sys.executable, "-c", _GROWTH, kind], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200 < before  # MB, which it was when groups were 28 bytes each


def test_arrays_are_not_written_out_to_be_hashed_saved_compared_or_sliced(tmp_path, monkeypatch):
    for module in (packed, profile_module):
        monkeypatch.setattr(module, "AT_ONCE", 100)
    monkeypatch.setattr(archive, "_AT_ONCE", 7)
    rows = np.random.default_rng(0).integers(-2, 3, (90, 3))
    profile, other = (profiled(rows, np.arange(90) % 4) for _ in range(2))
    profile.save(tmp_path / "profile.npz")
    assert profile == other
    assert profile.digest() == other.digest()
    part = profile[10:20]
    assert "closer" not in vars(profile) | vars(other)
    loaded = dh.TieProfile.load(tmp_path / "profile.npz")
    assert loaded == profile
    assert loaded[10:20] == part
    with np.load(tmp_path / "profile.npz") as content:
        np.testing.assert_array_equal(content["closer"], profile.closer)
    assert profile.digest() == loaded.digest()


# Packed groups --------------------------------------------------------------------------------------------------------


def groups_of(rng, n_item, n_group, most):
    """Groups of one query: n_item items in random order, with up to so many tied and so many between groups."""
    closer, tied, relevant = [], [], []
    ranked = 0
    for _ in range(n_group):
        ranked += int(rng.integers(0, most)) if rng.random() < 0.7 else 0
        size = int(rng.integers(1, most)) if rng.random() < 0.7 else 1
        if ranked + size > n_item:
            break
        closer.append(ranked), tied.append(size), relevant.append(int(rng.integers(1, size + 1)))
        ranked += size
    return np.array([closer, tied, relevant], dtype=np.int64).reshape(3, -1)


@pytest.mark.parametrize("most", [2, 65, 130, 300, 20_000, 1 << 22])
def test_packed_groups_have_room_and_are_unpacked_as_they_were(most):
    rng = np.random.default_rng(most)
    for n_item in (1, 64, 500, 70_000, 1 << 28):
        given = [groups_of(rng, n_item, int(rng.integers(0, 200)), most) for _ in range(9)]
        lengths = np.array([groups.shape[1] for groups in given])
        kept = PackedGroups.with_room(lengths, n_item)
        kept.pack(np.arange(9), lengths, *np.concatenate(given, axis=1))
        order = rng.permutation(9)
        closer, closer_relevant, tied, relevant = kept.arrays(order)
        wanted = np.concatenate([given[i] for i in order], axis=1)
        np.testing.assert_array_equal([closer, tied, relevant], wanted)
        np.testing.assert_array_equal(
            closer_relevant, np.concatenate([np.cumsum(given[i][2]) - given[i][2] for i in order])
        )
        mixed = [groups[1][groups[1] > groups[2]] for groups in given]
        largest = max((int(each.max(initial=0)) for each in mixed), default=0)
        assert kept.ties() == (sum(map(len, mixed)), sum(len(each) > 0 for each in mixed), largest)


def test_overlapping_groups_have_room_for_every_item_in_each():
    n_item, n = 1 << 20, 300
    closer = np.arange(n) * 129
    tied, relevant = np.full(n, n_item - 1), np.ones(n, dtype=np.int64)
    kept = PackedGroups.with_room(np.array([n]), n_item, overlapping=True)
    kept.pack(np.zeros(1, dtype=np.int64), np.array([n]), closer, tied, relevant)
    np.testing.assert_array_equal(kept.arrays(slice(0, 1)), [closer, np.arange(n), tied, relevant])


def test_more_groups_than_there_is_room_for_are_refused():
    kept = PackedGroups.with_room(np.array([1, 1]), 5)
    for lengths in ([60, 1], [-1, 1], [90, 1]):
        with pytest.raises(ValueError, match="groups"):
            kept.pack(np.arange(2), np.array(lengths), *np.ones((3, 61), dtype=np.int64))


# Without room ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "message"),
    [("disk", r"cannot keep \d+ MB in temporary files in '.*No space left"), ("memory", r"cannot map .* memory")],
)
def test_a_run_without_room_ends_before_it_counts(way, message, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "WORTH_A_FILE", 1)
    if way == "disk":
        monkeypatch.setattr(scratch, "_reserve", refuse)
    else:
        monkeypatch.setattr(scratch, "_WORKING", 1 << 60)
    counted = []
    rows = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.raises(StorageError, match=message) as error:
        profiled(rows, np.arange(60) % 2, progress=lambda done, total: counted.append(done))
    assert "\n" not in str(error.value)
    assert not counted
