"""The package as a whole: its public names, what importing it costs, and what its papers say of it."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import operator
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from deadheat.engine.settings import TaskSettings

ROOT = Path(__file__).parent.parent
PUBLIC = [
    "CountedTask", "Receipt", "Report", "Result", "Rounded", "Task", "TieProfile", "Tolerance", "audit",
    "audit_collection", "audit_run", "classification", "collisions", "compare", "compare_formats", "confidence",
    "errors", "evaluate", "exploit", "from_candidates", "from_judged", "from_lists", "from_neighbors", "from_profile",
    "from_ranks", "from_run", "from_scores", "generalization_gap", "grouped", "hash_lookup", "html_report",
    "index_recall", "index_recall_of_truth", "leaderboard", "link_prediction", "measures", "p_values",
    "pair_classification", "plots", "precision_recall", "random_baseline", "read", "receipt", "split_half", "verify",
    "within",
]  # fmt: skip


def test_public_names_are_these() -> None:
    assert sorted(dh.__all__) == PUBLIC
    assert all(hasattr(dh, name) for name in PUBLIC)
    assert sorted(dir(dh)) == sorted(["__version__", *PUBLIC])
    for module in filter(inspect.ismodule, map(vars(dh).get, PUBLIC)):
        assert dir(module) == sorted(module.__all__), module.__name__
    fresh = "import deadheat; print(deadheat.errors.InputError.__name__)"  # whatever else was imported before
    assert subprocess.check_output([sys.executable, "-c", fresh], text=True) == "InputError\n"


def test_every_public_name_is_documented_with_an_example_or_its_attributes() -> None:
    for name in PUBLIC:
        value = getattr(dh, name)
        text = inspect.getdoc(value) or ""
        assert ">>>" in text or "Attributes" in text or inspect.ismodule(value), name


IMPORT = "import deadheat; deadheat.__version__"
EVALUATE = "import deadheat as dh; print(dh.evaluate([[0.0], [1.0], [2.0]], ['a', 'b', 'a']))"
COMMAND = "from deadheat.cli.main import main; main()"
OPTIONAL = [
    "h5py", "matplotlib", "ml_dtypes", "narwhals", "pandas", "polars", "pyarrow", "safetensors", "scipy", "sklearn",
    "torch",
]  # fmt: skip
SELDOM = [
    "concurrent.futures", "decimal", "difflib", "email", "fractions", "gzip", "html", "importlib.metadata", "json",
    "logging", "numpy.ma", "numpy.random", "rich", "tabulate",
    "deadheat.analyses", "deadheat.trust.audits", "deadheat.engine.counting.checkpoint",
    "deadheat.engine.counting.executors", "deadheat.engine.counting.card", "deadheat.engine.counting.portions",
    "deadheat.engine.profiles.portions", "deadheat.engine.sources.run", "deadheat.engine.sources.keyed",
    "deadheat.inputs.trec", "deadheat.integrations", "deadheat.plots.pages", "deadheat.plots",
    "deadheat.engine.profiles.archive", "deadheat.trust.receipts", "deadheat.reports.statistics",
]  # fmt: skip
FILES = ["csv", "hashlib", "pathlib", "tempfile", "zipfile", "deadheat.inputs.formats"]
NOT_YET = {  # what is not loaded before it is needed
    IMPORT: [*SELDOM, *FILES, "click", "dataclasses", "deadheat.errors", "numpy"],
    EVALUATE: [*SELDOM, *FILES, "click", "deadheat.cli"],
    COMMAND: [*SELDOM, "deadheat.cli.demo", "deadheat.cli.analyses"],
}


@pytest.mark.parametrize("program", NOT_YET, ids=["import", "evaluate", "command"])
def test_nothing_is_loaded_before_it_is_needed(program: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "tiny.npz", embeddings=np.eye(4), labels=[0, 1, 0, 1])
    first = "import numpy.typing" if program != IMPORT else ""  # what NumPy loads is NumPy's
    last = "print(*(set(sys.modules) - before), file=sys.stderr)"
    text = f"import sys; {first}\nbefore = set(sys.modules)\ntry:\n    {program}\nfinally:\n    {last}"
    command = [sys.executable, "-c", text, "evaluate", str(tmp_path / "tiny.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert ("deadheat.reports.evaluating" in loaded) == ("mAP" in done.stdout) == (program != IMPORT)
    assert loaded & {*NOT_YET[program], *OPTIONAL} == set()
    assert all(map(find_spec, NOT_YET[program]))


def test_readme_has_two_commands_for_a_fresh_machine() -> None:
    commands = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert [command.rsplit("&& ", 1)[1] for command in commands] == ["deadheat demo", "pytest"]


def test_nothing_is_compiled_with_fast_math() -> None:
    options = (ROOT / "CMakeLists.txt").read_text()
    assert "-ffp-contract=off" in options
    for fast in ("fast-math", "-Ofast", "-funsafe", "-fassociative", "-freciprocal", "-ffinite", "-fno-signed-zeros"):
        assert fast not in options


def _long_signatures(source: str, most: int) -> list[str]:
    """Return the functions, constructors and function pointers of C++ code with more parameters than `most`."""
    before, text = "", re.sub(r"//.*", "", source)
    while before != text:  # arguments of templates, whose commas separate no parameters
        before, text = text, re.sub(r"<[^<>()]*>", "", text)
    lists = re.findall(r"(\w+|\(\*\w+\)|\[[^\[\]]*\]) ?\((?!\*)((?:[^()]|\([^()]*\))*)\)", text)
    parameter = re.compile(r"\s*\w[\w:\s*&]*[\s*&]\(?&?\w+\b")  # a type and a name, which arguments of a call are not
    sizes = [(name, each.split(",")) for name, each in lists]
    return [f"{name}: {len(each)}" for name, each in sizes if len(each) > most and all(map(parameter.match, each))]


def test_no_function_of_the_core_has_more_than_six_parameters() -> None:
    """More that belong together are a structure with a name, so that a call says what it hands over."""
    example = """
        void few(int a, Map<int, int> b) { few(a, b, c); }  // few(int a, int b, int c)
        Made::Made(int a, const T &b, T (&c)[2]) {}
        struct Loops { void (*many)(Span<const float> a, int b, bool c = true); };
        const auto f = [&](int a, int b, T *c) {};
    """
    assert _long_signatures(example, 2) == ["Made: 3", "(*many): 3", "[&]: 3"]
    files = [path for path in (ROOT / "src/core").rglob("*") if path.suffix in {".h", ".cpp"}]
    assert [line for path in files for line in _long_signatures(path.read_text(encoding="utf-8"), 6)] == []


def test_the_stub_has_the_public_names_where_they_are() -> None:
    stub = ast.parse((ROOT / "src/deadheat/__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    listed = {name.name: f"{node.module}:{name.name}" for node in imports for name in node.names}
    places = {name: f"deadheat.{place}" if ":" in place else "" for name, place in dh._PLACES.items()}
    namespaces = {name for name, place in places.items() if not place}
    assert listed.keys() == places.keys()
    assert all(listed[name] == place for name, place in places.items() if name not in namespaces)


def test_a_package_hands_nothing_on_but_what_users_know_as_a_namespace() -> None:
    """Every other `__init__.py` is a docstring, so that a name is imported from the module that makes it."""
    public = [getattr(dh, name) for name, place in dh._PLACES.items() if ":" not in place]
    namespaces = {Path(str(dh.__file__)), *(Path(str(module.__file__)) for module in public)}
    for path in Path(str(dh.__file__)).parent.rglob("__init__.py"):
        if path not in namespaces and path.parents[1].name != "integrations":
            (docstring,) = ast.parse(path.read_text(encoding="utf-8")).body
            assert isinstance(docstring, ast.Expr), path


_ENTRY = re.compile(r"^\*{0,2}(\w+(?:, \w+)*)( : \S.*)?$", re.MULTILINE)


def _functions() -> dict[str, Callable[..., object]]:
    """Public functions and methods of reports and analyses."""
    listed: dict[str, Callable[..., object]] = {}
    for name in (*dh.__all__, *(f"{room}.{each}" for room in ("confidence",) for each in
                                getattr(dh, room).__all__)):  # fmt: skip
        value = operator.attrgetter(name)(dh)
        if re.match(r"deadheat\.(reports|analyses)\.", getattr(value, "__module__", "")):
            members = {
                f"{name}.{key}": getattr(each, "__func__", each) for key, each in vars(value).items() if key[0] != "_"
            }
            listed |= members if inspect.isclass(value) else {name: value}
    return {name: value for name, value in listed.items() if inspect.isfunction(value)}


def _parameters(function: Callable[..., object]) -> str | None:
    """The section of a docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", inspect.getdoc(function) or "", re.M | re.S)
    return section and section[1]


def test_public_functions_document_their_own_parameters_in_place() -> None:
    """Each by name, with a type; names that share an entry share its type."""
    for name, function in _functions().items():
        section, parameters = _parameters(function), {*inspect.signature(function).parameters} - {"self", "cls"}
        if section is None:
            assert "." in name or not parameters, name
            continue
        entries = [entry for entry in _ENTRY.findall(section) if entry]
        assert [names for names, kind in entries if not kind] == [], name
        listed = [each for names, _ in entries for each in names.split(", ")]
        settings = TaskSettings.__annotations__ if "settings" in listed else ()  # which `Task` documents
        assert sorted([*listed, *settings]) == sorted([*parameters, *["settings"] * bool(settings)]), name
        assert not re.search(r"\b[Aa]s in `", section), name


def test_names_that_are_nearly_right_get_a_hint() -> None:
    points, labels = [[0.0], [1.0], [3.0]], [0, 0, 1]
    with pytest.raises(
        AttributeError, match=r"^module 'deadheat' has no attribute 'evalute'; did you mean 'evaluate'\?$"
    ):
        _ = dh.evalute
    for wrong, right in {"metric": "distance", "measure": "measures", "n_jobs": "threads"}.items():
        with pytest.raises(TypeError, match=rf"^{wrong} is no argument of evaluate; did you mean {right}=\?$"):
            dh.evaluate(points, labels, **{wrong: 1})
    with pytest.raises(TypeError, match=r"^xyz is no argument of evaluate, which takes embeddings, labels, gallery, "):
        dh.evaluate(points, labels, xyz=1)
    with pytest.raises(TypeError, match=r"^distance is no argument of from_candidates, which takes scores, positive_s"):
        dh.from_candidates([0], positive_scores=[1], distance="cosine")
    for wrong in ("rng", "random_state"):
        with pytest.raises(TypeError, match=rf"^{wrong} is no argument of exploit; did you mean seed=\?$"):
            dh.exploit(dh.Task(points, labels), **{wrong: 1})
    with pytest.raises(ValueError, match=r"holds -1 and 0, as sign\(0\) is 0; embeddings > 0 has two values$"):
        dh.evaluate([[1.0, -1], [1, 0]], [0, 0], distance="hamming")
    for gallery in (["mAP", "Hit@1"], "mAP", "mAP, Hit@1"):
        with pytest.raises(TypeError, match=r"^gallery must be embeddings, but is .*; did you mean measures=\?$"):
            dh.evaluate(points, labels, gallery)
    with pytest.raises(ValueError, match="must be a file of embeddings"):
        dh.evaluate(points, labels, "mop", labels)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff forms the stub (extra lint)")
def test_the_stub_of_the_core_is_that_of_the_core_that_is_built() -> None:
    pytest.importorskip("nanobind", reason="writes the stub")
    from tests.stub import STUB, stub

    assert STUB.read_text() == stub(), "the core has changed: run `python -m tests.stub`"


def _entries(function: Callable[..., object]) -> dict[str, str]:
    """Return the text of a docstring about each parameter."""
    parts = re.split(r"^(\w+) : ", _parameters(function) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_what_parameters_share_is_said_in_the_same_words() -> None:
    """A function says something else of a parameter than its source only where it means something else."""
    entries, own = {name: _entries(function) for name, function in _functions().items()}, set()
    sources = {
        "average": "evaluate",
        "singletons": "compare_formats",
        "threads": "random_baseline",
        "group_size": "grouped",
    }
    shared = {name: entries[function][name] for name, function in sources.items()}
    for name, of_function in entries.items():
        own |= {(name, key) for key in shared.keys() & of_function if of_function[key].strip() != shared[key].strip()}
    of_singletons = {("evaluate", "singletons"), ("grouped", "singletons"), ("hash_lookup", "singletons")}
    assert own == of_singletons | {("compare_formats", "average")}
