"""A card: the digest of the core, on PyTorch's CPU device and, where there is one, on a card; by both ways to count.

The kernel runs on the CPU too, compiled as C++. Products that err by more than they should are imitated, or are those
of bfloat16 that some processors have; each comes with a control that shows that they do err.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_invariance as invariance
from click.testing import CliRunner
from kernel_on_host import kernel_on_host
from keyed import in_many_portions, profiled

import deadheat as dh
from deadheat.cli.main import main
from deadheat.engine.counting import layout
from deadheat.engine.counting.candidates import Candidates, Relevance
from deadheat.engine.counting.card import card_pass, counting, device
from deadheat.engine.counting.card.counting import by_sorting, count_between
from deadheat.engine.counting.card.device import Card, CardRows, open_card
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.engine.ties.rule import Exact
from deadheat.inputs.source import Array

torch: Any = pytest.importorskip("torch", reason="the extra 'torch' is not installed")

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device")
PLACES = ["cpu", pytest.param("cuda", marks=needs_cuda)]
ON_CPU = Card(torch, torch.device("cpu"))
DUPLICATES = invariance.example(invariance.gaussian_with_duplicates)
RULES = ["exact", "float16", "bfloat16", "float32", dh.Rounded("float16", of="distance"), dh.Tolerance(0.01)]


@pytest.fixture(params=PLACES)
def card(request) -> Card:
    return ON_CPU if request.param == "cpu" else open_card(request.param)


@pytest.fixture(params=["float64", "float32"])
def precision(request, monkeypatch, card) -> str:
    """Set a card to multiply in float64 at once, or only where float32 leaves much open."""
    monkeypatch.setattr(card, "wide", request.param == "float64")
    return request.param


@pytest.fixture(params=["kernel", "sorting"])
def way(request, monkeypatch, card) -> str:
    """Set the way in which scores are counted."""
    if request.param == "sorting" or card is ON_CPU:
        kernel = kernel_on_host if request.param == "kernel" else lambda card: None
        monkeypatch.setattr(counting, "kernel_of", kernel)
        monkeypatch.setattr(card_pass, "kernel_of", kernel)
    elif counting.kernel_of(card) is None:
        pytest.skip("there is no kernel on this card: see the log")
    return request.param


@pytest.fixture(autouse=True)
def _setting() -> Iterator[None]:
    """The precision of float32 products is one setting for the whole process."""
    before = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(before)


def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, and tiles of few columns."""
    monkeypatch.setattr(layout, "BLOCK_ROWS", 33)
    for module in (device, card_pass):
        monkeypatch.setattr(module, "MOST_BYTES", 33 * 64 * 50)
    monkeypatch.setattr(Card, "free", lambda self: 1 << 30)


def same(card: Any, *given: Any, threads: int | None = None, **options: Any) -> bool:
    """Return whether a card gives the profile that the core gives."""
    return profiled(*given, **options, device=card, threads=threads) == profiled(*given, **options)


# The same profile -----------------------------------------------------------------------------------------------------


two_ways = pytest.mark.parametrize(
    ("way", "precision"), [("kernel", "float32"), ("sorting", "float64")], indirect=True
)  # fmt: skip


@two_ways
@invariance.every_kind_and_distance
def test_every_kind_of_data(kind, distance, card, way, precision, monkeypatch):
    rows, labels = invariance.example(kind)
    for _ in range(2):
        assert same(card, rows, labels, distance=distance)
        assert same(card, rows[:60], labels[:60], rows[60:], labels[60:], distance=distance, threads=3)
        in_pieces(monkeypatch)


@two_ways
@pytest.mark.parametrize("ties", RULES, ids=str)
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
def test_every_meaning_of_tied(distance, ties, card, way, precision, monkeypatch):
    if isinstance(ties, dh.Rounded) and ties.of == "distance" and distance == "inner_product":
        ties = dh.Rounded("float16")
    in_pieces(monkeypatch)
    for kind in (invariance.gaussian_with_duplicates, invariance.small_integers):
        assert same(card, *invariance.example(kind), distance=distance, ties=ties)


RNG = np.random.default_rng(3)
OF_ALL, BY_PAIR, SETS = RNG.random(170) < 0.2, RNG.random((170, 170)) < 0.2, RNG.random((170, 5)) < 0.3
OWN = np.where(np.arange(60) % 2, np.arange(60), -1)
TASKS = {
    "junk": (DUPLICATES, {"junk": OF_ALL}),
    "junk by pairs": (DUPLICATES, {"junk": BY_PAIR}),
    "queries in the gallery": ((DUPLICATES[0][:60], DUPLICATES[1][:60], *DUPLICATES), {"exclude": OWN}),
    "mostly relevant": ((DUPLICATES[0], np.arange(170) % 2), {}),
    **{f"label sets, {name}": ((DUPLICATES[0], SETS), {"relevance": name}) for name in ("any", "same", "count")},
    "label sets, rounded": ((DUPLICATES[0], SETS), {"ties": "float16"}),
}


@pytest.mark.parametrize("distance", [*invariance.PRODUCTS, "hamming", "jaccard"])
@pytest.mark.parametrize("task", TASKS)
def test_every_kind_of_task(task, distance, card, way, monkeypatch):
    (rows, *data), options = TASKS[task]
    in_pieces(monkeypatch)
    if distance in ("hamming", "jaccard"):
        rows, data[1:2] = rows > 0, [each > 0 for each in data[1:2]]
    assert same(card, rows, *data, distance=distance, **options)


@pytest.mark.parametrize("ties", ["exact", "float16", dh.Tolerance(0.4)], ids=str)
def test_given_pairs_and_what_a_rule_leaves_out(ties, card, way):
    rng = np.random.default_rng(4)
    rows, near = rng.integers(-3, 4, (40, 3)).astype(np.float32), rng.random((40, 40)) < 0.2
    given = {"relevant": near | near.T, "exclude": dh.within(2, range(40)), "ties": ties}
    assert same(card, rows, **given, distance="euclidean")


@pytest.mark.parametrize("n_bit", [77, 64 * 65])
@pytest.mark.parametrize("ties", ["exact", "float16"])
@pytest.mark.parametrize("setting", ["highest", "medium"])
def test_bits(card, setting, ties, n_bit, precision, monkeypatch):
    """Short codes under exact ties stay with the core, which has a histogram for each query."""
    rows, labels = np.random.default_rng(9).random((150, n_bit)) < 0.3, np.arange(150) % 6
    packed = np.packbits(rows, axis=1)
    in_pieces(monkeypatch)
    torch.set_float32_matmul_precision(setting)
    assert same(card, rows, labels, distance="hamming", ties=ties)
    assert same(card, packed[:40], labels[:40], packed, labels, distance="hamming", ties=ties)


@pytest.mark.parametrize("share", [0.0, 2.0])
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
def test_float64_after_float32_by_tiles_and_by_pairs(distance, share, card, way, monkeypatch):
    in_pieces(monkeypatch)
    monkeypatch.setattr(card, "wide", False)
    monkeypatch.setattr(card_pass, "MANY_OPEN", share)
    for kind in invariance.KINDS:
        assert same(card, *invariance.example(kind), distance=distance)


def test_little_is_left_to_the_processor(card, way, monkeypatch):
    """Products in float64 leave nothing open but what ties."""
    left, tile = [], card_pass.CardPass._tile

    def counted(*args):
        result = tile(*args)
        left.extend(len(rows) for _, _, rows, *_ in result)
        return result

    monkeypatch.setattr(card_pass.CardPass, "_tile", counted)
    rows = np.random.default_rng(0).standard_normal((400, 64), dtype=np.float32)
    profiled(rows, np.arange(400) % 40, device=card)
    assert left
    assert sum(left) == 0
    rows = np.random.default_rng(0).permuted(np.tile(rows[0], (400, 1)), axis=1)
    rows[:4] = 1.0  # to which all other rows are equally close
    assert same(card, rows, np.arange(400) % 40)
    assert sum(left) > 300


@pytest.mark.parametrize("begun_on_the_card", [False, True])
def test_either_path_goes_on_from_the_other_ones_checkpoint(begun_on_the_card, card, tmp_path, monkeypatch):
    in_many_portions(monkeypatch)
    one, other = (card, None) if begun_on_the_card else (None, card)

    def interrupt(done, total):
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="portions are kept"):
        profiled(*DUPLICATES, checkpoint=tmp_path / "kept", device=one, progress=interrupt, threads=1)
    begun = []
    assert len(list((tmp_path / "kept").glob("portion-*"))) > 1
    options = {"checkpoint": tmp_path / "kept", "progress": lambda done, total: begun.append(done / total)}
    assert profiled(*DUPLICATES, device=other, **options) == profiled(*DUPLICATES)
    assert begun[0] > 0.3


# The ways to count ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("weighed", [False, True])
def test_both_ways_count_what_is_between_edges(card, way, closed, weighed, monkeypatch):
    """Compared with NumPy's `searchsorted`; more is open than there is room for at first."""
    monkeypatch.setattr(counting, "ROOM", 5)
    rng = np.random.default_rng(7)
    for n_edge in (1, 2, 6, 40):
        edges = np.sort(rng.integers(0, 30, (9, n_edge)) / 4.0, axis=1)
        edges[2:4, n_edge // 2 :] = np.inf
        scores = rng.choice([-np.inf, -0.3, *(np.arange(32) / 4), 1e300], (9, 80))
        weight = rng.integers(0, 4, 80).astype(np.int32) if weighed else None
        given = (None if array is None else card.upload(array) for array in (scores, edges, weight))
        counts, *opened = (each.cpu().numpy() for each in count_between(card, *given, closed))
        wanted, undecided = np.zeros((9, n_edge + 1)), set()
        for row, column in np.ndindex(*scores.shape):
            slot = int(np.searchsorted(edges[row], scores[row, column], side="right"))
            if slot % 2 and not closed:
                undecided.add((row, column, slot))
            elif slot:
                wanted[row, slot] += weight[column] if weighed else 1
        np.testing.assert_array_equal(counts, wanted)
        assert set(zip(*(each.tolist() for each in opened), strict=True)) == undecided
        assert len(opened[0]) == len(undecided)


def test_more_edges_than_a_block_of_threads_can_hold_are_looked_up(card, monkeypatch):
    calls = []
    monkeypatch.setattr(counting, "kernel_of", lambda card: lambda *arguments: pytest.fail("too many edges"))
    monkeypatch.setattr(counting, "by_sorting", lambda *given: calls.append(by_sorting(*given)) or calls[-1])
    n_edge = counting.SHARED_BYTES // 12 + 1
    edges = card.upload(np.arange(n_edge, dtype=np.float64)[None])
    (counts, rows, *_) = count_between(card, card.upload(np.array([[1.5, 2.5, -1.0]])), edges, None, True)
    assert (counts[0, :5].tolist(), len(rows), len(calls)) == ([0, 0, 1, 1, 0], 0, 1)


def test_nvcc_compiles_the_kernel():
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    source = Path(counting.__file__).with_name("count.cu")
    subprocess.run([nvcc, "-arch=sm_90", "-cubin", "-o", os.devnull, str(source)], check=True, timeout=120)


def test_nvrtc_compiles_the_kernel(monkeypatch):
    """As on a card, but without one; and what does not compile is an error."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="cuda.bindings is not installed")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError:
        pytest.skip("NVRTC is not installed")
    assert counting.cubin("sm_90").startswith(b"\x7fELF")
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"no kernel")
    with pytest.raises(RuntimeError, match=r"^NVRTC_ERROR_COMPILATION of nvrtcResult$"):
        counting.cubin("sm_90")


def test_without_a_compiler_there_is_a_line_in_the_log(monkeypatch, caplog):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(counting, "import_module", missing)
    with caplog.at_level(logging.WARNING, logger="deadheat"):
        somewhere = Card(torch, torch.device("cpu"))
        somewhere.where = torch.device("cuda", 1)
        assert counting.kernel_of(somewhere) is None
    (line,) = caplog.messages
    assert line == "cuda:1: scores are sorted, not counted by a kernel: No module named 'cuda.bindings.driver'"
    assert counting.kernel_of(ON_CPU) is None
    assert len(caplog.messages) == 1


# Precision ------------------------------------------------------------------------------------------------------------


@invariance.every_kind_and_distance
def test_settings_for_shorter_numbers_change_nothing(kind, distance, card, precision):
    torch.set_float32_matmul_precision("medium")
    assert not card.has_float32()
    assert same(card, *invariance.example(kind), distance=distance)
    assert torch.get_float32_matmul_precision() == "medium"


def test_shorter_numbers_with_a_bound_for_float32_are_refused(card, monkeypatch):
    """Otherwise the test above shows nothing; but not every processor has products of bfloat16."""
    torch.set_float32_matmul_precision("medium")
    rows = torch.tensor(DUPLICATES[0], device=card.where)
    if float(((rows @ rows.T).double() - rows.double() @ rows.double().T).abs().max()) < 1e-4:
        pytest.skip("this device multiplies float32 as float32, whatever it is allowed")
    monkeypatch.setattr(Card, "has_float32", lambda self: True)
    monkeypatch.setattr(card, "checked", set())
    monkeypatch.setattr(card, "wide", False)
    with pytest.raises(ValueError, match=r"^float32 products on .* must be within their bounds, but are not"):
        profiled(*DUPLICATES, device=card)
    monkeypatch.setattr(card, "checked", {"float64", "float32"})
    monkeypatch.setattr(card_pass, "MANY_OPEN", 2.0)
    assert not same(card, *DUPLICATES)


@pytest.mark.parametrize("bits", [8, 10, 20, 30, 40, 43])
@pytest.mark.parametrize("how", [np.trunc, np.rint])
def test_a_card_whose_products_err_is_refused(bits, how, monkeypatch):
    """Factors that are cut to so many bits, as tensor cores or an emulation of float64 would."""
    card, upload = Card(torch, torch.device("cpu")), Card.upload
    card.wide = False
    card.check()
    assert card.checked == {"float64", "float32"}
    card.checked.clear()
    monkeypatch.setattr(
        Card, "upload", lambda self, rows: upload(self, (how(rows * 2.0**bits) / 2.0**bits).astype(rows.dtype))
    )
    with pytest.raises(ValueError, match=r"^float.. products on cpu must be within their bounds, but are not$"):
        card.check()


def test_a_setting_that_changes_on_the_way(card, monkeypatch):
    """Products in bfloat16 are made again in float64."""
    monkeypatch.setattr(card, "wide", False)
    in_pieces(monkeypatch)

    def coarsen(done, total):
        torch.set_float32_matmul_precision("medium")

    wanted = profiled(*DUPLICATES)
    assert profiled(*DUPLICATES, device=card, progress=coarsen, threads=1) == wanted


@pytest.mark.parametrize("distance", invariance.PRODUCTS)
@pytest.mark.parametrize("kind", invariance.KINDS)
def test_scores_err_by_no_more_than_the_bound(kind, distance, card, precision):
    rows, labels = invariance.example(kind)
    for exact_only in (True, False):
        metric, queries = distance_registry.make(distance, rows, None, exact_only), np.arange(len(rows))
        relevance = Relevance(labels, labels, Candidates.of(len(rows), len(rows), leave_one_out=False))
        counting_pass = card_pass.CardPass(card, metric, Exact(), relevance)
        metric, last = counting_pass.distance, counting_pass.last
        assert last == (precision == "float32" and metric.levels[0].dtype == np.float32)
        for number, (band, ends) in ((n, b) for n in range(last + 1) for b in enumerate(metric.columns.bands)):
            tile = counting_pass._scores(number, queries, range(*ends)).cpu().numpy()
            row, position = (index.ravel() for index in np.indices(tile.shape))
            truth = metric.scores.pair_scores(row, position + ends[0]).reshape(tile.shape)
            slack = metric.scores.errors(last, queries, band)[:, :1]
            assert (np.abs(tile - truth) <= metric.scores.errors(number, queries, band)[:, :1] + slack).all()


SETTINGS = """
import json, sys, torch
from deadheat.engine.counting.card.device import Card
card, found = Card(torch, torch.device("cpu")), {}
for place in ("backends", "backends.mkldnn", "backends.mkldnn.matmul", "backends.cuda.matmul"):
    for value in ("ieee", "tf32", "bf16"):
        if place.startswith("backends.cuda") and value == "bf16":
            continue
        exec(f"torch.{place}.fp32_precision = {value!r}")
        found[f"{place} {value}"] = card.has_float32()
        exec(f"torch.{place}.fp32_precision = 'none'")
print(json.dumps(found))
"""


@pytest.mark.slow
def test_every_way_to_set_the_precision_is_seen():
    """In a fresh process, as settings made in the old way and in the new do not mix."""
    if not hasattr(torch.backends, "fp32_precision"):
        pytest.skip("this PyTorch has one way only")
    done = subprocess.run([sys.executable, "-c", SETTINGS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for setting, has_float32 in json.loads(done.stdout).items():
        assert has_float32 == setting.endswith("ieee") or "cuda" in setting, setting


def test_automatic_casts_do_nothing(card):
    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        with torch.autocast(card.where.type, dtype=torch.bfloat16):
            assert same(card, *DUPLICATES, threads=1)
    finally:
        torch.set_default_dtype(default)


# Memory and streams ---------------------------------------------------------------------------------------------------


def test_too_little_memory_means_smaller_tiles(card, way, monkeypatch):
    shapes, scores = [], card_pass.CardPass._scores

    def limited(self, level, queries, columns):
        if len(columns) * len(queries) > 2000:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        shapes.append(len(columns))
        return scores(self, level, queries, columns)

    monkeypatch.setattr(card_pass.CardPass, "_scores", limited)
    assert same(card, *DUPLICATES)
    assert len(shapes) > 10
    monkeypatch.setattr(card_pass.CardPass, "_scores", lambda *given: limited(*given[:2], np.arange(9999), given[3]))
    with pytest.raises(torch.cuda.OutOfMemoryError):
        profiled(*DUPLICATES, device=card)


def test_rows_that_are_too_many_are_uploaded_when_they_are_needed(card, monkeypatch):
    monkeypatch.setattr(Card, "free", lambda self: 1 << 15)
    assert CardRows(card, ScaledRows.over(Array(DUPLICATES[0]), np.ones(1))).kept is None
    for distance in invariance.PRODUCTS:
        assert same(card, *DUPLICATES, distance=distance)


def test_a_tensor_is_used_where_it_is(card):
    source = Array(DUPLICATES[0])
    tensor = torch.tensor(DUPLICATES[0], device=card.where)
    source.tensor = tensor, tensor._version
    rows = ScaledRows.over(source, np.ones(1))
    assert CardRows(card, rows).kept.data_ptr() == tensor.data_ptr()
    tensor[0] = 7.0  # after the rows were copied
    np.testing.assert_array_equal(CardRows(card, rows).kept.cpu().numpy(), DUPLICATES[0])


def test_in_inference_mode(card, way, monkeypatch):
    """Tensors of inference mode have no gradients and no version."""
    in_pieces(monkeypatch)
    wanted = profiled(*DUPLICATES)
    monkeypatch.setattr("deadheat.inputs.samples.is_on_card", torch.is_tensor)
    with torch.inference_mode():
        rows = torch.tensor(DUPLICATES[0], device=card.where)
        assert profiled(rows, DUPLICATES[1], device=card, threads=3) == wanted
    assert profiled(rows, DUPLICATES[1], device=card, threads=3) == wanted
    tensor = torch.tensor(DUPLICATES[0], device=card.where, requires_grad=True)
    task = dh.Task(tensor, DUPLICATES[1], device=card, threads=3)
    assert task.pair.query.embeddings.tensor[0] is tensor
    assert task.profile == wanted


@needs_cuda
def test_the_stream_of_the_caller_is_respected():
    rows, labels = (torch.tensor(each, device="cuda") for each in DUPLICATES)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        large = torch.randn(4096, 4096, device="cuda")
        for _ in range(50):  # so that the rows come late
            large = large @ large / 4096
        late = rows + 0 * large[:170, :48]
        assert profiled(late, labels) == profiled(*DUPLICATES)


# What comes in --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", PLACES)
def test_tensors_as_embeddings_labels_and_junk(where):
    rows, labels = DUPLICATES
    tensor, marks = torch.tensor(rows, device=where, requires_grad=True), torch.tensor(labels, device=where)
    wanted = profiled(rows, labels, junk=labels == 3)
    for given, on in ((tensor, where), (tensor, None), (tensor, "cpu"), ([tensor[:50], tensor[50:]], None)):
        assert profiled(given, marks, device=on, junk=marks == 3) == wanted
    short, bits = tensor.bfloat16(), tensor > 0
    assert profiled(short, marks) == profiled(short.detach().float().cpu().numpy(), labels)
    result = profiled(bits, marks, bits, marks, distance="hamming", device=where)
    assert result == profiled(rows > 0, labels, rows > 0, labels, distance="hamming")


@needs_cuda
def test_tensors_on_a_card_are_counted_there():
    rows, labels = torch.tensor(DUPLICATES[0], device="cuda"), DUPLICATES[1]
    assert dh.Task(rows, labels).options.device.where == rows.device
    assert dh.Task([rows[:9], rows[9:]], labels).options.device.where == rows.device
    assert dh.Task(rows, labels, device="cpu").options.device is None


def test_the_card_of_tensors_is_opened(monkeypatch):
    """Without a card: what says that it is on one."""
    opened = []
    monkeypatch.setattr(device, "open_card", lambda given: opened.append(given) or ON_CPU)

    class OnCard:
        is_cuda, device, _version, ndim = True, "cuda:3", 0, 2

        def __array__(self, dtype=None, copy=None):
            return DUPLICATES[0]

        def is_inference(self):
            return False

    class Row(OnCard):
        ndim = 1

        def __init__(self, row):
            self._row = row

        def __array__(self, dtype=None, copy=None):
            return self._row

    for given in (OnCard(), [OnCard()], [*map(Row, DUPLICATES[0])]):
        task = dh.Task(given, DUPLICATES[1])
        assert (opened.pop(), task.options.device) == ("cuda:3", ON_CPU)
    dh.Task(DUPLICATES[0], DUPLICATES[1])
    assert not opened


@pytest.mark.parametrize("where", ["cpu", torch.device("cpu"), torch.device("cpu", 0)], ids=repr)
def test_cpu_is_the_core(where):
    assert open_card(where) is None
    rows, labels = invariance.example(invariance.small_integers)
    assert dh.evaluate(rows, labels, device=where).to_json() == dh.evaluate(rows, labels).to_json()


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("gpu", ValueError, "device must be cpu or cuda (or cuda:1 ...), but is 'gpu'"),
        ("mps", ValueError, "device must be cpu or cuda (or cuda:1 ...), but is 'mps', which has no float64"),
        (torch.device("meta"), ValueError, "device must be cpu or cuda (or cuda:1 ...), but is 'meta'"),
        ("cuda:99", ValueError, "device must be one that PyTorch can use, but is 'cuda:99', and "),
        (0, TypeError, "device must be None, a string or a torch.device, but is 0"),
    ],
    ids=str,
)
def test_wrong_devices(where, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}[^\n]*$"):
        dh.evaluate([[0.0], [1.0]], [0, 0], device=where)


def pretend(monkeypatch: pytest.MonkeyPatch, n_card: int, built: str | None = "13.0") -> None:
    """Cards that PyTorch would find."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: n_card > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n_card)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: n_card - 1)
    monkeypatch.setattr(torch.version, "cuda", built)
    monkeypatch.setattr(device, "_card", lambda torch, index: index)


@pytest.mark.parametrize(
    ("n_card", "built", "where", "message"),
    [
        (0, None, "cuda", "'cuda', and this PyTorch is built without CUDA"),
        (0, "13.0", "cuda", "'cuda', and PyTorch finds no CUDA devices"),
        (1, "13.0", "cuda:1", "'cuda:1', and PyTorch finds 1 CUDA device"),
        (2, "13.0", "cuda:2", "'cuda:2', and PyTorch finds 2 CUDA devices"),
    ],
)
def test_no_such_card(n_card, built, where, message, monkeypatch, tmp_path):
    """One line, and exit status 2 on the command line."""
    pretend(monkeypatch, n_card, built)
    with pytest.raises(ValueError, match=f"^device must be one that PyTorch can use, but is {re.escape(message)}$"):
        open_card(where)
    np.savez(tmp_path / "data.npz", embeddings=DUPLICATES[0], labels=DUPLICATES[1])
    done = CliRunner().invoke(main, ["evaluate", str(tmp_path / "data.npz"), "--device", where])
    assert done.exit_code == 2
    assert done.stderr.strip().endswith(message)


def test_arithmetic_that_the_environment_changes_is_refused(monkeypatch):
    pretend(monkeypatch, 1)
    for value in ("0", "1"):
        monkeypatch.setenv("CUBLAS_EMULATE_DOUBLE_PRECISION", value)
        if value == "0":
            assert open_card("cuda") == 0
    with pytest.raises(
        ValueError, match=r"^device 'cuda' must have products whose error is known, but the environment"
    ):
        open_card("cuda")


@pytest.mark.parametrize("gallery", [False, True])
def test_workers_of_an_executor_open_the_card_of_the_setting(gallery, monkeypatch):
    opened = []
    monkeypatch.setattr(device, "open_card", lambda name: opened.append(name) or ON_CPU)
    rows, labels = DUPLICATES
    given = (rows[:60], labels[:60], rows[60:], labels[60:]) if gallery else (rows, labels)
    in_pieces(monkeypatch)
    for name in ("cuda", "cuda:1"):
        with ThreadPoolExecutor(2) as executor:
            assert profiled(*given, executor=executor, device=name) == profiled(*given)
    assert opened == ["cuda", "cuda:1"]  # the caller needs none


@pytest.mark.parametrize("distance", distance_registry.names(takes="numbers"))
def test_a_processor_that_takes_tiny_numbers_for_zero_changes_nothing(distance):
    """Here and not in test_invariance because it is PyTorch that has the switch."""
    rng = np.random.default_rng(2)
    rows, labels = rng.integers(-2, 3, (60, 5)), rng.integers(0, 5, 60)
    rows[:4] = 0
    wanted = profiled(rows, labels, distance=distance, threads=1)
    assert torch.set_flush_denormal(True)
    try:
        assert profiled(rows, labels, distance=distance, threads=1) == wanted
        assert profiled(rows, labels, distance=distance, threads=1, device=ON_CPU) == wanted
    finally:
        torch.set_flush_denormal(False)
