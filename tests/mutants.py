"""Break the package at random places, one at a time, and see whether the tests notice.

    python -m tests.mutants                                              40 places of the whole package
    python -m tests.mutants --packages studies inputs --count 20 --seed 1
    python -m tests.mutants --packages studies --seed 1 --only 3 7       these of the same draw, after tests were mended
    python -m tests.mutants --against all                                survivors against every test too
    python -m tests.mutants --count 90 --core 30 --near 4                and of the core; tests that name a module

A place is a comparison, a sum or product, a condition, an `and` or `or`, an integer. Each is changed in a temporary
copy of the checkout, whose docstrings and tests of the same package then run until the first failure:
`src/deadheat/PACKAGE` and `tests/PACKAGE`, unless `--tests` names others. A draw depends on the sources and the seed
alone. A survivor may be equivalent (the program means the same), which only a reader can decide. The exit status is 1
if any survived.

With `--near`, only so many test files run, those that name the module of the place most often, without slow tests:
minutes in place of hours; try its survivors again without it. Places of the core, which is built again for each of them
in the copy (cmake, ninja, ccache), run the tests of `OF_CORE`, without slow ones, then its test program.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path.cwd()
PACKAGE = Path("src/deadheat")
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
               ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
SUMS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
        ast.And: ast.Or, ast.Or: ast.And}  # fmt: skip
KIND = {ast.Compare: "comparison", ast.BinOp: "sum", ast.AugAssign: "sum", ast.BoolOp: "logic", ast.Constant: "integer"}
NOT_RUN = ("annotation", "returns", "type_params")  # the fields of a node that are types
CORE = Path("src/core")
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+", "&&": "||",
           "||": "&&"}  # fmt: skip
KIND_OF = dict.fromkeys(("+", "-", "*"), "sum") | dict.fromkeys(("&&", "||"), "logic")
IN_CORE = re.compile(r"(?<= )(?:[<>]=?|[=!]=|[-+*]|&&|\|\|)(?= )|(?<![\w.'])\d+(?![\w.'])|(?<=\bif \()(?=\w+\))")
NOT_CODE = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\n])*\"|^ *(?:#|template|static_assert)[^\n]*", re.M)
OF_COUNTING = ("invariance", "pass", "by_rules", "match_counts", "int8_filter", "sorted_rows", "given_pairs")
COUNTING = [f"tests/engine/counting/test_{name}.py" for name in OF_COUNTING]
OF_CORE = {
    "distances": ["tests/engine/distances", "tests/test_worlds.py", *COUNTING],
    "exact": ["tests/engine/test_exact.py", "tests/test_worlds.py", "tests/engine/ties", *COUNTING],
    "pass": ["tests/test_worlds.py", "tests/engine/test_count.py", *COUNTING],
    "counting": ["tests/test_worlds.py", *COUNTING, "tests/engine/counting/test_card.py"],
    "ties": ["tests/test_worlds.py", "tests/engine/ties", *COUNTING],
    "measures": ["tests/measures"],
    "analyses": ["tests/analyses/test_collisions.py", "tests/analyses/test_exploit.py",
                 "tests/analyses/test_precision_recall.py", "tests/trust"],
    "inputs": ["tests/inputs/test_trec.py", "tests/inputs/test_run_rows.py", "tests/inputs", "tests/engine/sources"],
    "support": ["tests/support", "tests/test_worlds.py", "tests/engine/distances", *COUNTING],
}  # fmt: skip
# An editable installation would load the checkout's own modules before those on the path.
ONLY_THE_COPY = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]\n"


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is below it, without types and `if TYPE_CHECKING`, in the order of the text."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in NOT_RUN:
                yield from nodes(child)


def broken(node: ast.AST) -> bool:
    """Change the node itself, if it is of a kind that can be."""
    match node:
        case ast.Compare(ops=[operator, *_]):
            node.ops[0] = COMPARISONS[type(operator)]()
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp() if type(node.op) in SUMS:
            node.op = SUMS[type(node.op)]()
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.Compare):
            node.test = ast.UnaryOp(ast.Not(), test)
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            node.value = value + 1
        case _:
            return False
    return True


def shown(node: ast.AST) -> str:
    head = node.test if isinstance(node, ast.If | ast.While) else node
    return " ".join(ast.unparse(head).split())[:100]


class Place:
    """The node of this number in a file; `text` is the file with it changed, `whole` without."""

    def __init__(self, path: Path, number: int) -> None:
        self.path, self.whole = path, path.read_text(encoding="utf-8")
        tree = ast.parse(self.whole)
        node = list(nodes(tree))[number]
        before = shown(node)
        broken(node)
        self.text = ast.unparse(tree)
        self.title = f"{path.relative_to(PACKAGE)}:{node.lineno}: {before}  ->  {shown(node)}"
        if isinstance(node, ast.Constant):
            self.title += "    in  " + self.whole.splitlines()[node.lineno - 1].strip()

    @property
    def tests(self) -> list[str]:
        """The docstrings and tests of the innermost package that has a folder of tests, or of a module in none."""
        parts = self.path.relative_to(PACKAGE).parts
        for end in range(len(parts) - 1, 0, -1):
            if Path("tests", *parts[:end]).is_dir():
                return [str(Path(top, *parts[:end])) for top in (PACKAGE, "tests")]
        return [str(path) for path in (self.path, Path(f"tests/test_{parts[0]}")) if path.exists()]


class CorePlace:
    """The same for a file of the core: a place in its text."""

    def __init__(self, path: Path, match: re.Match[str]) -> None:
        self.path, self.whole = path, path.read_text(encoding="utf-8")
        new = SWAPPED.get(match[0], str(int(match[0]) + 1) if match[0].isdigit() else "!")
        self.text = self.whole[: match.start()] + new + self.whole[match.end() :]
        line = self.whole[: match.start()].count("\n")
        before, after = (text.splitlines()[line].strip() for text in (self.whole, self.text))
        self.title = f"core/{path.relative_to(CORE)}:{line + 1}: {before}  ->  {after}"

    @property
    def tests(self) -> list[str]:
        parts = self.path.relative_to(CORE).parts
        return OF_CORE[parts[0] if len(parts) > 1 else "pass"]


def draw_core(count: int, seed: int) -> list[CorePlace]:
    """As many places of each kind, of all files of the core but its bindings."""
    kinds: dict[str, list[tuple[Path, re.Match[str]]]] = {}
    for path in sorted(CORE.rglob("*.*")):
        if not path.name.startswith(("bindings", "casters")):
            blank = NOT_CODE.sub(lambda text: " " * len(text[0]), path.read_text(encoding="utf-8"))
            for match in IN_CORE.finditer(blank):
                kind = "condition" if not match[0] else "integer" if match[0].isdigit() else "comparison"
                kinds.setdefault(KIND_OF.get(match[0], kind), []).append((path, match))
    chance = random.Random(seed)
    drawn = [chance.sample(kinds[kind], min(-(-count // len(kinds)), len(kinds[kind]))) for kind in sorted(kinds)]
    return [CorePlace(*place) for row in itertools.zip_longest(*drawn) for place in row if place][:count]


def draw(packages: list[str], count: int, seed: int) -> list[Place]:
    """As many places of each kind, so that the many integers do not outweigh the rest."""
    kinds: dict[str, list[tuple[Path, int]]] = {}
    for package in packages:
        for path in sorted((PACKAGE / package).rglob("*.py") if (PACKAGE / package).is_dir() else [PACKAGE / package]):
            for number, node in enumerate(list(nodes(ast.parse(path.read_text(encoding="utf-8"))))):
                if broken(node):
                    kinds.setdefault(KIND.get(type(node), "condition"), []).append((path, number))
    chance = random.Random(seed)
    drawn = [chance.sample(kinds[kind], min(-(-count // len(kinds)), len(kinds[kind]))) for kind in sorted(kinds)]
    return [Place(*place) for row in itertools.zip_longest(*drawn) for place in row if place][:count]


def copied(folder: Path) -> None:
    """Copy the files of this checkout that git lists, and the compiled core."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0"):
        if Path(name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, folder / name)
    core = importlib.util.find_spec("deadheat._core")
    shutil.copy2(str(core and core.origin), folder / PACKAGE)
    (folder / "src/sitecustomize.py").write_text(ONLY_THE_COPY)


def near(mutant: Place, most: int) -> list[str]:
    """The docstrings of a module, and the test files that name it most often."""
    word, counts = re.compile(rf"\b_?{mutant.path.stem}s?\b"), {}
    for path in Path("tests").rglob("test_*.py"):
        same = mutant.path.relative_to(PACKAGE).parts[:-1] == path.parts[1:-1]
        counts[path] = (1 + 9 * same) * len(word.findall(path.read_text(encoding="utf-8")))
        counts[path] += 99 * (mutant.path.stem in path.stem)
    best = sorted(filter(counts.get, counts), key=lambda path: (-counts[path], path))[:most]
    return [str(mutant.path), *map(str, best)] if best else mutant.tests


def compiled(folder: Path, name: str, *options: str) -> bool:
    """Build the copy in a folder of this name, and return whether it compiles."""
    source, options = folder / name, ("-GNinja", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", *options)
    commands = [["cmake", "-S", str(folder), "-B", str(source), *options], ["ninja", "-C", str(source)]]
    return all(
        subprocess.run(command, capture_output=True, check=False).returncode == 0
        for command in (commands if not source.exists() else commands[1:])
    )


def program(folder: Path, seconds: float) -> str:
    """The same as `outcome`, of the core's test program, whose undefined behaviour is caught too."""
    if not compiled(folder, "program", "-DDEADHEAT_TESTS=ON", "-DDEADHEAT_SANITIZE=undefined"):
        return "no C++"
    command = [folder / "program/tests/core/core_tests"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "late"
    return "caught" if done.returncode else "survived"


def build(folder: Path) -> bool:
    """Build the core of the copy, as a release does, and return whether it compiles."""
    if not compiled(folder, "build", f"-DPython_EXECUTABLE={sys.executable}"):
        return False
    for path in (folder / PACKAGE).glob("_core.*so"):
        path.unlink()
    shutil.copy2(next((folder / "build").glob("_core.*so")), folder / PACKAGE)
    return True


def outcome(folder: Path, tests: list[str], seconds: float | None, marks: str = "") -> str:
    """Return the result of the tests on the copy: `survived`, `caught` or, if they take longer, `late`."""
    data = os.environ.get("DEADHEAT_DATA", str(ROOT.parent / "shared" / "data"))
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "DEADHEAT_DATA": data}
    options = ["-x", "-q", "-m", marks, "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            return "caught" if process.wait(seconds) else "survived"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "late"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", help="folders or files in src/deadheat; default: all")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--core", type=int, default=0, help="places of src/core in addition")
    parser.add_argument("--near", type=int, help="run so many test files for a place")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the places to run")
    parser.add_argument("--tests", nargs="+", help="what pytest runs; default: the same package's tests")
    parser.add_argument("--against", choices=["package", "all"], default="package")
    parser.add_argument("--limit", type=float, default=900, help="seconds until a run counts as caught")
    options = parser.parse_args()
    places = dict(enumerate(draw(options.packages or ["."], options.count, options.seed), 1))
    of_core = dict(enumerate(draw_core(options.core, options.seed), options.count + 1))
    rounds = ["package", "all"] if options.against == "all" else ["package"]
    caught = dict.fromkeys(rounds, 0)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name, "copy")
        copied(folder)
        tests_of = {n: options.tests or place.tests for n, place in (places | of_core).items()}
        if options.near:
            tests_of |= {n: near(place, options.near) for n, place in places.items()}
        run = {n: place for n, place in (places | of_core).items() if n in (options.only or [n])}
        if of_core.keys() & run and not build(folder):
            sys.exit("the core does not build")
        for tests in {} if options.near else {tuple(tests_of[n]): None for n in run}:
            if outcome(folder, list(tests), None) != "survived":
                sys.exit(f"nothing is broken yet, and {' '.join(tests)} fail:\n{Path(name, 'copy.log').read_text()}")
        total, marks = 0, "not slow" if options.near or options.core else ""
        for number, mutant in run.items():
            start, end = time.monotonic(), "survived"
            (folder / mutant.path).write_text(mutant.text, encoding="utf-8")
            if number in of_core and not build(folder):
                end = "no C++"
            for tests in rounds:
                if end == "survived":
                    end = outcome(folder, [] if tests == "all" else tests_of[number], options.limit, marks)
                if end == "survived" and number in of_core:
                    end = program(folder, options.limit)
                caught[tests] += end in ("caught", "late")
            (folder / mutant.path).write_text(mutant.whole, encoding="utf-8")
            total += end != "no C++"
            print(f"{number:3}  {end:8} {time.monotonic() - start:5.0f} s  {mutant.title}", flush=True)
    for tests, number in caught.items():
        print(f"{number} of {total} caught by {'every test' if tests == 'all' else 'the tests of the package'}")
    return 0 if caught[rounds[-1]] == total else 1


if __name__ == "__main__":
    sys.exit(main())
