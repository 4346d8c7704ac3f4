"""Runs that are long: embeddings on disk, checkpoints, interrupts."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from keyed import in_many_portions, profiled


def example(n=240, dim=9):
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.standard_normal((n // 2, dim)), 2, axis=0).astype(np.float32)
    rows[::5] *= rng.choice([0.01, 3.0, 50.0], (len(rows[::5]), 1)).astype(np.float32)
    return rows[rng.permutation(n)], rng.integers(0, 12, n)


# Embeddings on disk ---------------------------------------------------------------------------------------------------


def test_codes_on_disk_count_as_those_in_memory(tmp_path):
    rng = np.random.default_rng(3)
    codes, labels = rng.integers(0, 256, (90, 4), dtype=np.uint8), rng.integers(0, 9, 90)
    parts = [tmp_path / f"part-{number}.npy" for number in range(3)]
    for path, part in zip(parts, np.array_split(codes, 3), strict=True):
        np.save(path, part)
    wanted = profiled(codes, labels, distance="hamming")
    split = profiled(codes[:9], labels[:9], codes, labels, distance="hamming")
    for on_disk in (parts, f"{tmp_path}/part-*.npy"):
        assert profiled(on_disk, labels, distance="hamming") == wanted
        assert split == profiled(codes[:9], labels[:9], on_disk, labels, distance="hamming")


_GROWTH = """
import sys
import numpy as np
import deadheat as dh
rng = np.random.default_rng(0)
queries, labels = rng.standard_normal((64, 128), dtype="f"), np.arange(64) % 8
dh.evaluate(queries, labels, queries, labels)
gallery_labels = rng.integers(0, 2000, int(sys.argv[2]))
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
dh.evaluate(queries, labels, sys.argv[1], gallery_labels)
print((status("VmHWM") - before) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the high-water mark is reset in Linux's way")
def test_a_gallery_on_disk_is_never_in_memory_as_a_whole(tmp_path):
    n = 400_000
    gallery = np.lib.format.open_memmap(tmp_path / "gallery.npy", "w+", np.float32, (n, 128))
    rng = np.random.default_rng(1)
    for start in range(0, n, 40_000):
        gallery[start : start + 40_000] = rng.standard_normal((40_000, 128), dtype=np.float32)
    gallery.flush()
    arguments = [sys.executable, "-c", _GROWTH, str(tmp_path / "gallery.npy"), str(n)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150  # of 205


# Checkpoints ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def many_portions(monkeypatch):
    in_many_portions(monkeypatch)


@pytest.mark.usefixtures("many_portions")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"distance": "euclidean"}, "distance is 'cosine' there and 'euclidean' here"),
        ({"ties": "float16"}, "ties is 'exact' there"),
        ({"embeddings": np.ones((240, 9))}, "other query embeddings"),
        ({"labels": np.arange(240) % 12}, "other labels"),
        ({"junk": np.arange(240) < 3}, "junk"),
        ({"gallery": example()[0] + 1}, "other gallery embeddings"),
        ({"gallery": example()[0][::-1].copy(), "exclude": np.arange(240)}, "items left out"),
    ],
)
def test_a_checkpoint_of_other_data_is_refused(change, message, tmp_path):
    rows, labels = example()
    given = {"embeddings": rows, "labels": labels, "distance": "cosine", "checkpoint": tmp_path / "kept"}
    if "gallery" in change:
        given |= {"gallery": rows[::-1].copy(), "gallery_labels": labels}
    profiled(**given)
    before = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    with pytest.raises(ValueError, match=message) as error:
        profiled(**{**given, **change})
    assert "\n" not in str(error.value)
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before


AS_LABELS = {
    "list": lambda labels: labels.tolist(),
    "short": lambda labels: labels.astype(np.uint8),
    "words": lambda labels: np.array([f"word {label}" for label in labels]),
    "list of words": lambda labels: [f"word {label}" for label in labels],
    "variable words": lambda labels: np.array([f"word {label}" for label in labels]).astype("T"),
}


@pytest.mark.usefixtures("many_portions")
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("as_labels", AS_LABELS)
def test_a_checkpoint_is_of_values_however_they_are_kept(as_labels, split, tmp_path):
    rows, labels = example()

    def run(rows, labels, **options):
        gallery = (rows[100:], labels[100:]) if split else ()
        return profiled(rows, labels, *gallery, checkpoint=tmp_path / "kept", **options)

    wanted, done = run(rows, AS_LABELS["words"](labels) if "word" in as_labels else labels), []
    sorted((tmp_path / "kept").glob("portion-*"))[1].unlink()
    given = AS_LABELS[as_labels](labels)
    resumed = run(rows.astype(np.float64), given, threads=1, progress=lambda done_, total: done.append(done_ / total))
    assert resumed == wanted
    assert done[0] > 0.5  # only what was missing is done
    assert run(np.asfortranarray(rows), given) == wanted


def two_valued(rng, n_row=4000):
    return np.where(rng.random((n_row, 64)) < 0.5, np.float32(-0.7310586), np.float32(1.3678794))


def random(rng):
    return rng.standard_normal((30_000, 64))


def saturated(rng):  # products that float64 does not distinguish
    return 1 / (1 + np.exp(-40 * rng.standard_normal((40_000, 64))))


def of_any_size(rng):  # exponents that span the whole range
    return rng.choice([0, 1, -1, 1e-300, 1e300], (6000, 64))


STEPS = {  # what an interrupt comes into: data that take seconds, classes, and what "tied" means
    "sorting what ties": (two_valued, 2, "exact"),
    "counting random data": (random, 100, "exact"),
    "counting what is all relevant": (random, 1, "exact"),
    "comparing exactly": (saturated, 400, "exact"),
    "sorting numbers of any size": (of_any_size, 3, "exact"),
    "counting numbers of any size": (of_any_size, 400, "exact"),
    "a rule of Python": (partial(two_valued, n_row=20_000), 20, "float16"),
}


@pytest.fixture
def interruptible():
    """Python's own answer to an interrupt, also if the tests were started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_any_step_within_half_a_second(threads, step):
    make, n_class, ties = STEPS[step]
    rows, began, used = make(np.random.default_rng(0)), threading.Event(), []

    def interrupt():
        if began.wait(60):
            time.sleep(0.3)
            used.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt, match=r"^nothing is kept: give a checkpoint"):
        profiled(
            rows, np.arange(len(rows)) % n_class, threads=threads, ties=ties, progress=lambda done, total: began.set()
        )
    used.append(time.process_time())
    thread.join()
    assert used[1] - used[0] < 0.5 * threads
