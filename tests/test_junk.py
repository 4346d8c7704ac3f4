"""Random calls of every public function and method with junk: a result, or an error of deadheat in one line.

A call is a valid one in which one or two arguments, or all, are replaced by values that they should not have, or are
damaged (`junk.py`). Its number is its seed. `DEADHEAT_JUNK=200000 pytest -m slow tests/test_junk.py` makes more.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import itertools
import os
import pickle
import random
import signal
import traceback
import types
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from junk import EXECUTORS, OBJECTS, BrokenError, broken, catalogue, damaged
from matplotlib import pyplot
from matplotlib.figure import Figure
from scipy import sparse
from test_public_functions import GOOD, JUDGED, MARKS, REPORT, ROWS, SCORES, TASK, parameters

import deadheat as dh
from deadheat.errors import DeadheatError, ExecutorError, InvalidTypeError, QueryInGalleryWarning
from deadheat.measures.names import parse, parse_all
from deadheat.measures.values import all_bounds

LONG_WORK = {"draws", "searches", "n_resamples", "dim"}  # large numbers are as good as small ones, and take hours

LONGEST, SECONDS = 1000, 30
KINDS = {  # of the arguments of a name: kinds of junk that reach farther than others
    "matplotlib": "ax figure",
    "executors": "executor",
    "paths": "path checkpoint receipt run qrels embeddings labels gallery directory",
    "strings": "measure measures distance ties method singletons average order by base format formats alternative",
    "arrays": "embeddings labels gallery scores relevant junk exclude ids",
    "scipy": "embeddings gallery labels relevant scores",
    "torch": "embeddings gallery labels scores",
    "pandas": "embeddings labels metadata run qrels scores",
    "polars": "embeddings labels metadata run qrels scores",
    "pyarrow": "embeddings labels metadata run qrels scores",
}


class Called(NamedTuple):
    title: str
    function: Callable[..., Any]
    good: dict[str, Any]
    names: list[str]
    follow: bool = True


class TooLongError(BaseException):
    """A call takes too long."""


# What is called ------------------------------------------------------------------------------------------------------


def is_ours(value: Any) -> bool:
    """Return whether it is an instance of a class of deadheat that people hold: not of the readers of `inputs`."""
    package, _, rest = type(value).__module__.partition(".")
    return package == "deadheat" and not rest.startswith("inputs.") and not isinstance(value, types.FunctionType)


def results() -> dict[type, Any]:
    """Return one instance of every class of deadheat that a public function returns, or that is a part of one."""
    instances: dict[type, Any] = {}
    waiting: list[Any] = [TASK, REPORT, REPORT.profile, REPORT["mAP"], *others()]
    for function, given in GOOD.items():
        with contextlib.suppress(OSError):
            waiting.append(function(**given))
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        if isinstance(value, (list, tuple)):
            waiting.extend(value[:3])
        if not is_ours(value) or type(value) in instances:
            continue
        instances[type(value)] = value
        for name in dir(type(value)):
            internal = name.startswith("_") or name in INTERNAL.get(type(value).__name__, "").split()
            if not internal and not inspect.isroutine(getattr(type(value), name)):
                with contextlib.suppress(DeadheatError, AssertionError):
                    waiting.append(getattr(value, name))
    return instances


def others() -> list[Any]:
    """Results that the valid calls do not return."""
    graded = dh.from_run({"q": {"a": 0.5, "b": 0.5}}, {"q": {"a": 1, "b": 0.25}})
    return [graded.profile, dh.evaluate(graded), dh.collisions(TASK, distances=["cosine", "euclidean"])]


INTERNAL = {  # methods that take or return parts of a counting pass; no page names them
    "Task": "of_pair with_rows pair options require_rows",
    "TieProfile": "of_compact of_packed compact packed taken",
    "Rounded": "check cuts group",
    "Tolerance": "check cuts group",
    "Report": "averaging",
}
SPECIAL = [f"__{name}__" for name in ("getitem", "contains", "eq", "add", "format", "call", "iter", "len", "lt")]


def methods(value: Any) -> Iterator[Called]:
    kind = type(value)
    hidden = INTERNAL.get(kind.__name__, "").split()
    for name in dir(kind):
        if name in hidden or (name.startswith("_") and name not in SPECIAL):
            continue
        member = inspect.getattr_static(kind, name)
        if isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        if not callable(member) or getattr(member, "__module__", "").partition(".")[0] != "deadheat":
            continue
        method = getattr(value, name)
        if method in GOOD:
            continue
        yield Called(f"{kind.__name__}.{name}", method, VALID.get(f"{kind.__name__}.{name}", {}), parameters(method))


VALID: dict[str, dict[str, Any]] = {
    "Receipt.load": {"path": "receipt.json"}, "Receipt.save": {"path": "saved.json"},
    "Receipt.of": {"value": dh.receipt(TASK)}, "TieProfile.save": {"path": "profile.npz"},
    "TieProfile.load": {"path": "profile.npz"}, "TieProfile.joined": {"profiles": [REPORT.profile, REPORT.profile]},
    "TieProfile.__getitem__": {"queries": [0, 1]},
    "Report.get": {"measure": "mAP"}, "Report.compute": {"measures": "mAP"},
    "Report.interval": {"measure": "mAP", "n_resamples": 20}, "Report.__getitem__": {"measure": "mAP"},
    "Result.interval": {"n_resamples": 20},
    "Task.replace": {"distance": "euclidean", "ties": "exact", "threads": 1, "progress": False, "executor": None},
}  # fmt: skip


def registered(**given: Any) -> list[str]:
    """Register a measure, use it, and remove it."""
    row = dh.measures.register(**given)
    try:
        return [str(dh.evaluate(TASK, row.name)), dh.measures.listing()]
    finally:
        dh.measures.unregister(row.name)


MEASURES: dict[Callable[..., Any], dict[str, Any]] = {
    all_bounds: {"profile": REPORT.profile, "measures": ["mAP", "P@2"]}, dh.measures.find: {"name": "mAP"},
    dh.measures.listing: {}, parse: {"name": "nDCG(dcg='exp2')@10"},
    parse_all: {"names": ["mAP", "P"], "top_k": 5, "rel": 1},
    dh.measures.per_query: {"profile": REPORT.profile, "measure": "mAP"},
    registered: {"name": "Own", "discount": lambda rank: 1 / rank, "over": "best", "sentence": "own", "aliases": ["o"]},
    dh.measures.std: {"profile": REPORT.profile, "measure": "mAP"}, dh.measures.unregister: {"name": "Own"},
}  # fmt: skip
NAMED_REPORTS = {"a": REPORT, "b": REPORT}
CURVE = dh.confidence.error_reject_curve(REPORT["Hit@1"], np.arange(8.0))
PLOTS: dict[str, dict[str, Any]] = {
    "bounds": {"reports": NAMED_REPORTS, "sorts": {"a mAP": [0.25]}}, "caterpillar": {"report": REPORT},
    "cmc": {"reports": NAMED_REPORTS, "k": 3},
    "collision_image": {"collisions": dh.collisions(TASK), "rows": slice(0, 4), "amplify": 1},
    "collision_legend": {"figure": Figure(layout="constrained")},
    "credible_recall": {"found": dh.confidence.credible_recall(SCORES, SCORES, MARKS.astype(bool))},
    "differences": {"difference": dh.compare(REPORT, REPORT, n_resamples=20)["mAP"]},
    "error_reject": {"curve": CURVE, "label": "a", "number": 1},
    "format_changes": {"reports": NAMED_REPORTS, "base": "a", "measure": "mAP"},
    "group_values": {"reports": {"a": dh.grouped(TASK, group_size=2)}},
    "hash_lookup": {"results": dh.hash_lookup(dh.Task(ROWS > 4, np.arange(8) // 2, distance="hamming"))},
    "mean_intervals": {"reports": NAMED_REPORTS},
    "measure_against_bytes": {"comparison": dh.compare_formats(TASK, measures="mAP")},
    "order_ranges": {"exploits": {"a": dh.exploit(TASK, searches=1, draws=2)}},
    "per_class": {"report": REPORT, "n": 2}, "precision_at_k": {"reports": REPORT, "k": [1, 3]},
    "precision_recall": {"curves": dh.precision_recall(REPORT)}, "recall_at_k": {"reports": REPORT, "k": 3},
    "reliability": {"calibration": dh.confidence.calibration([True, False], [0.5, 0.75]), "label": "a"},
    "risk_coverage": {"curve": CURVE, "references": False},
    "det": {"results": dh.classification([0.5, 0.5, 0.1], [1, 0, 1])},
    "roc": {"results": dh.classification([0.5, 0.5, 0.1], [1, 0, 1]), "scale": "linear"},
    "slices": {"sliced": REPORT.by_slice(np.arange(8) // 4), "measure": "mAP"},
    "tie_sizes": {"profiles": {"a": REPORT.profile}},
}  # fmt: skip


DRAWN = itertools.count()


def gives(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def drawn(name: str) -> Callable[..., Any]:
    """Return a function that draws a plot, closes its figure, and writes one of four of them."""

    def draw(*args: Any, **given: Any) -> None:
        try:
            ax = getattr(dh.plots, name)(*args, **given)
            if ax is not None and next(DRAWN) % 4 == 0:
                ax.figure.canvas.print_figure(io.BytesIO(), dpi=30)
        finally:
            pyplot.close("all")

    return draw


MADE_BY_HAND = ("TieProfile", "Receipt")  # classes whose constructors check


def constructor(value: Any) -> Iterator[Called]:
    kind = type(value)
    if dataclasses.is_dataclass(value) and kind not in GOOD:
        good = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
        yield Called(kind.__name__, kind, good, parameters(kind), kind.__name__ in MADE_BY_HAND)


@cache
def called() -> list[Called]:
    """Return everything that is called: functions, classes, and methods of their results."""
    listed = [Called(function.__qualname__, function, good, parameters(function)) for function, good in GOOD.items()]
    listed.append(Called("dh.evaluate", dh.evaluate, {}, ["task", "measures", "singletons", "average"]))
    listed += [Called(f"dh.measures.{f.__name__}", f, good, parameters(f)) for f, good in MEASURES.items()]
    for name, good in PLOTS.items():
        listed.append(Called(f"dh.plots.{name}", drawn(name), good, parameters(getattr(dh.plots, name))))
    for value in results().values():
        listed += [*methods(value), *constructor(value)]
    return listed


@cache
def often() -> list[Called]:
    """Return what is called more often: functions, and what people make or hold most."""
    held = {"Task", "TieProfile", "Report", "Result", "Receipt", "dh"}
    functions = {function.__qualname__ for function in GOOD}
    parts = (each.title.partition(".")[0] for each in called())
    return [each for each, part in zip(called(), parts, strict=True) if each.title in functions or part in held]


# One call ------------------------------------------------------------------------------------------------------------


class Caller:
    """Makes the calls of some numbers, and keeps what is wrong with them."""

    def __init__(self, libraries: Iterable[str] = ()) -> None:
        self.kinds = catalogue(set(libraries))
        self.wrong: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.shown: dict[tuple[str, ...], str] = {}

    def junk(self, draw: random.Random, name: str) -> Any:
        likely = [kind for kind, names in KINDS.items() if kind in self.kinds and name in names.split()]
        while True:
            kind = draw.choice(likely if likely and draw.random() < 0.5 else list(self.kinds))
            title, make = draw.choice([*self.kinds[kind].items()])
            value = draw.choice(instances()) if draw.random() < 0.04 else make()
            if not (name in LONG_WORK and isinstance(value, (int, np.integer)) and abs(value) > 1000):
                self.titles.append(f"{name}: {title}")
                return gives(value) if name == "discount" and draw.random() < 0.6 else value

    def arguments(self, draw: random.Random, call: Called) -> tuple[list[Any], dict[str, Any]]:
        self.titles: list[str] = []
        names, chance = call.names, draw.random()
        if chance < 0.03:
            return [self.junk(draw, name) for name in [*names, "", ""][: draw.randrange(5)]], {}
        if chance < 0.05:
            return [], call.good | {draw.choice(["junks", "metric", "n_jobs", "\udcff", "x" * 5000]): 1}
        if chance < 0.13:
            return [], {name: self.junk(draw, name) for name in names}
        changes = {}
        for name in draw.sample(names, min(len(names), 1 if draw.random() < 0.7 else 2)):
            if name in call.good and name not in LONG_WORK and draw.random() < 0.4:
                self.titles.append(f"{name}: damaged")
                changes[name] = damaged(call.good[name], draw, lambda name=name: self.junk(draw, name))
            else:
                changes[name] = self.junk(draw, name)
        return [], call.good | changes

    def call(self, number: int) -> None:
        """Make the call of a number."""
        draw = random.Random(number)
        call = draw.choice(called() if draw.random() < 0.4 else often())
        try:
            self.make(number, draw, call)
        except DeadheatError as error:
            if len(str(error)) > LONGEST:
                self.keep(number, call, "long message", error)
            if not str(error).isprintable():
                self.keep(number, call, "message not printable", error)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if not is_refusal_of_python(error, call):
                self.keep(number, call, type(error).__name__, error)

    def make(self, number: int, draw: random.Random, call: Called) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args, given = self.arguments(draw, call)
        with guarded(), warnings.catch_warnings(record=True) as warned, contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", QueryInGalleryWarning)
            warnings.filterwarnings("ignore", "Glyph .* missing from font|Tight layout not applied")  # of Matplotlib
            try:
                result = call.function(*args, **given)
                if call.follow:
                    follow(result, draw)
            finally:
                for warning in warned:
                    if Path(warning.filename).name != "junk.py":
                        line = f"{Path(warning.filename).name}:{warning.lineno}"
                        self.keep(number, call, warning.category.__name__, warning.message, line)

    def keep(self, number: int, call: Called, kind: str, error: Any, line: str = "-") -> None:
        for frame in traceback.extract_tb(error.__traceback__):
            if "/deadheat/" in frame.filename:
                line = f"{frame.filename.partition('/deadheat/')[2]}:{frame.lineno}"
        key = (kind, line, call.title)
        self.wrong[key].append(number)
        message = "?" if isinstance(error, BrokenError) else repr(str(error))
        self.shown.setdefault(key, f"{'; '.join(self.titles[:3])} -> {message:.150}")

    def __str__(self) -> str:
        rows = sorted(self.wrong.items(), key=lambda item: -len(item[1]))
        return "\n".join(f"{len(n)} × {' '.join(key)} (call {n[0]}): {self.shown[key]}" for key, n in rows)


@cache
def instances() -> list[Any]:
    return list(results().values())


def follow(result: Any, draw: random.Random) -> None:
    """Ask for the rest of what a call has begun."""
    if isinstance(result, types.GeneratorType):
        list(islice(result, 1000))
    if not is_ours(result):
        return
    str(result)
    if isinstance(result, dh.Task):
        str(result.profile)
    names = [name for name in dir(type(result)) if not name.startswith("_") and name not in str(INTERNAL)]
    for name in draw.sample(names, min(2, len(names))):
        if not inspect.isroutine(inspect.getattr_static(type(result), name)):
            getattr(result, name)


def is_refusal_of_python(error: BaseException, call: Called) -> bool:
    """Return whether it is a wrong keyword or number of arguments, or an error of the system about a file.

    Errors of a function that was given to be called, such as one of progress, are those of the caller.
    """
    if isinstance(error, OSError):
        return True
    if isinstance(error, IndexError) and call.title == "TieProfile.__getitem__":  # which ends a loop over it
        return True
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    inside = [frame for frame in frames if frame.f_code.co_name != "in_plain_mode"]
    callers = {"cluster.py", "progress.py"}
    if isinstance(error, BrokenError) and any(Path(frame.f_code.co_filename).name in callers for frame in frames):
        return True
    return isinstance(error, TypeError) and inside[-1].f_code.co_name in ("make", "draw", "registered")


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """End a call that takes too long."""

    def stop(*_: Any) -> None:
        raise TooLongError

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def state() -> bytes:
    """Return what no call may change."""
    kept = [ROWS.tobytes(), REPORT.to_json(), REPORT.profile.digest(), TASK.profile.digest()]
    return pickle.dumps(kept + [repr(value) for value in instances()])


def made(numbers: Iterable[int], libraries: Iterable[str]) -> Caller:
    """Make calls in the directory of today, which they may fill with files."""
    dh.receipt(TASK).save("receipt.json")
    REPORT.profile.save("profile.npz")
    before, caller = state(), Caller(libraries)
    for number in numbers:
        caller.call(number)
    assert state() == before
    return caller


@pytest.mark.parametrize("name", EXECUTORS)
@pytest.mark.parametrize("question", [dh.Task, dh.index_recall], ids=lambda each: each.__name__)
def test_executors_that_answer_with_something_else_are_named(name: str, question: Any) -> None:
    with pytest.raises((ExecutorError, InvalidTypeError)):
        str(getattr(question(**GOOD[question], executor=EXECUTORS[name]()), "profile", None))


LONG = 100_000 * "x"
MATRIX = sparse.csr_matrix(np.eye(8, 3))
NAMED: dict[str, tuple[Callable[[], Any], str]] = {
    "std": (lambda: REPORT.to_dict(std="no"), "std must be True or False, but is 'no'"),
    "strict": (lambda: dh.audit_run(**GOOD[dh.audit_run]).passes(strict=1), "strict must be True or False, but is 1"),
    "junk of sets": (lambda: dh.Task(ROWS, np.arange(8), junk=[set()] * 8), "junk must be bool, but has dtype object"),
    "repr raises": (lambda: dh.Task(ROWS, np.arange(8), threads=broken("__repr__")), "threads must be an integer, but"),
    "long argument": (lambda: dh.evaluate(TASK, **{LONG: 1}), "xxx"),
    "surrogates": (lambda: dh.evaluate(TASK, 190 * "\ud800"), r"unknown measure '\ud800"),
    "memoryview 2-D": (lambda: dh.evaluate(TASK, memoryview(ROWS)), "measures must be names"),
    "ragged profile": (lambda: dh.TieProfile([[0], [1, 1]], [0], [0], [1], [1], [1], [1]), "offsets must be a matrix"),
    "profiles": (lambda: dh.TieProfile.joined([3]), "profiles must be at least one TieProfile, but has 3"),
    "sparse entry": (
        lambda: dh.from_neighbors([[0]], [[1.0]], relevant=[sparse.dia_matrix(np.eye(2))], n_gallery=2),
        "relevant must be a collection of ids for each query, but is <",
    ),
    "sparse indexes": (
        lambda: dh.index_recall_of_truth(sparse.dok_matrix(ROWS), [[0]], [[1.0]], k=1),
        "returned must have names that are not empty, but has",
    ),
    "module": (lambda: dh.audit_collection(ROWS[:2], np, JUDGED["qrels"]), "gallery_ids must "),
    "sparse ids": (
        lambda: dh.TieProfile([0, 1], [0], [0], [1], [1], [1], [1], query_ids=sparse.csr_array(np.eye(8))),
        "not a tie profile: query_ids must have one entry per query",
    ),
    "duration": (lambda: dh.Tolerance(np.timedelta64(1, "D")), "eps must be a number, but is "),
    "part": (lambda: dh.audit(TASK)["x"], "name must be one of "),
    "repeat": (lambda: dh.grouped(TASK, group_size=2).group_labels(1), "repeat must be at most 0, but is 1"),
    "progress": (lambda: dh.Task(ROWS, np.arange(8), progress=dict), "progress must be True, False or a"),
    "receipt": (lambda: dh.Receipt({"a": {1, 2}}).is_whole, "content must hold what JSON can, but raised TypeError"),
    "wide": (lambda: dh.Task(sparse.coo_matrix((12, 2**62)), np.arange(12)), "embeddings must have at most 2"),
    "fspath raises": (lambda: dh.read(broken("__fspath__")), "path must be a path (a string or a path object)"),
    "fspath is int": (lambda: dh.read(broken(__fspath__=lambda self: 3)), "path must be a path (a string or a path o"),
    "polar": (lambda: dh.plots.cmc(REPORT, ax=axes("polar axes")), "ax must be rectilinear axes, b"),
    "removed": (lambda: dh.plots.cmc(REPORT, ax=axes("axes removed")), "ax must be axes of a figure"),
    "cutoffs": (lambda: dh.plots.cmc(REPORT, k=OBJECTS["released memoryview"]()), "k must be cutoffs, but is <rel"),
    "profiles of a plot": (lambda: dh.plots.tie_sizes(sparse.dok_matrix(ROWS)), "profiles must map names to type"),
    "amplify": (lambda: dh.plots.collision_image(dh.collisions(TASK), amplify=1000), "amplify must be at most 8, b"),
    "measure": (
        lambda: dh.plots.measure_against_bytes(**PLOTS["measure_against_bytes"], measure=np.zeros(8)),
        "a measure must be given by its name",
    ),
    **{
        f"{name} of sparse rows": (
            lambda name=name, value=value: dh.Task(broken_rows(name, value), np.arange(8)),
            "embeddings must be readable, but this csr_matrix raised ValueError",
        )
        for name, value in (("indices", [0, -1, 2]), ("indices", [0, 3, 2]), ("indptr", [0, 2, 1, 3, 3, 3, 3, 3, 3]))
    },
}  # fmt: skip


def axes(name: str) -> Any:
    return catalogue({"matplotlib"})["matplotlib"][name]()


def broken_rows(name: str, value: list[int]) -> Any:
    rows = MATRIX.copy()
    setattr(rows, name, np.array(value, dtype=np.int32))
    return rows


@pytest.mark.parametrize("name", NAMED)
def test_kinds_that_were_not_refused(name: str) -> None:
    call, begin = NAMED[name]
    with pytest.raises(DeadheatError) as caught:
        call()
    assert str(caught.value).startswith(begin)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= LONGEST


def test_a_sparse_matrix_of_the_caller_stays_as_it_is() -> None:
    rows = sparse.csr_matrix(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(1, 2))  # an entry is given twice
    before = rows.copy()
    dh.confidence.norms(rows)
    assert vars(rows).keys() == vars(before).keys()
    np.testing.assert_array_equal(rows.indices, before.indices)


def test_names_that_no_font_has_and_figures_that_hold_no_legend_are_drawn() -> None:
    for ax in (axes("axes"), axes("small figure")):
        dh.plots.cmc({"caf\udce9": REPORT, "b": REPORT}, ax=ax)
        assert ax.get_legend().get_texts()[0].get_text() == r"caf\udce9"
    labels = ["a", "b", "a", "b", "\udce9", "\udce9", "c", "c"]
    assert r"\udce9" in [row.get_text() for row in dh.plots.per_class(dh.evaluate(ROWS, labels)).get_yticklabels()]
    assert dh.plots.error_reject(CURVE, label="\udce9").get_legend() is not None


def test_numbers_of_a_class_of_the_caller_become_plain() -> None:
    value = OBJECTS["int with repr"]()
    (measure,) = parse_all("P", top_k=value, rel=value)
    assert measure.name == "P(rel=3)@3"
    assert type(measure.rel) is type(measure.cutoff) is int


def test_lazy_frames_are_refused_without_a_warning() -> None:
    polars = pytest.importorskip("polars")
    for call in (lambda lazy: dh.from_run(lazy, {"q": {"a": 1}}), lambda lazy: dh.confidence.norms(lazy)):
        with pytest.raises(InvalidTypeError, match=r"is a LazyFrame: give frame\.collect\(\)$"):
            call(polars.LazyFrame({"a": [1]}))


@pytest.mark.slow
def test_tensors_whose_signs_are_open_are_converted() -> None:
    torch = pytest.importorskip("torch")
    numbers = torch.tensor([[3.0 + 4.0j]]).conj()
    assert dh.confidence.norms(numbers.imag) == 4.0
    with pytest.raises(InvalidTypeError, match="must hold real numbers"):
        dh.confidence.norms(numbers)


def test_junk_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(made(range(1000), ())) == ""


@pytest.mark.slow
def test_junk_is_refused_in_one_line_in_a_large_number_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    numbers = range(10**6, 10**6 + int(os.environ.get("DEADHEAT_JUNK", "8000")))
    assert str(made(numbers, ("matplotlib", "scipy", "pandas", "polars", "pyarrow", "torch"))) == ""
