"""Branches of the exact code that no test takes: of the core by gcov, of the measures by coverage.py.

    python -m tests.branches                build, run the tests of the core and those in TESTS, list the rest: an hour
    python -m tests.branches --only core    the test program of the core alone, tests/core: minutes
    python -m tests.branches --keep         list what the last run counted

The core is built without optimization into build/branches, so that a branch of the program is one of the source. A
branch of a template is taken if it is in one of its instances. Branches that only an exception takes do not count, nor
do closing braces, and lines that end with "// never taken: ..." and the reason. It needs GCC and coverage.py.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "branches"
CORE = ROOT / "src" / "core"
FOLDERS = ("exact", "ties", "counting")
MEASURES = "src/deadheat/measures"
TESTS = ["tests/engine", "tests/measures", "tests/analyses"]
SETS = ("baseline", "avx2", "avx512")
REASON = "// never taken: "

Branches = dict[tuple[str, int], list[int]]  # how often each branch of a line of a file was taken


def build() -> None:
    options = ["-DDEADHEAT_TESTS=ON", "-DDEADHEAT_BRANCHES=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--", "-j2", "--quiet"], check=True)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()


def run_core() -> None:
    for name in SETS:
        environment = os.environ | {"DEADHEAT_INSTRUCTION_SET": name}
        subprocess.run([BUILD / "tests/core/core_tests"], check=True, env=environment)


def run_python(tests: list[str]) -> None:
    """Run tests of the package with the core that counts: it lies next to links to the modules."""
    package = BUILD / "package" / "deadheat"
    shutil.rmtree(package.parent, ignore_errors=True)
    package.mkdir(parents=True)
    for path in [*(ROOT / "src/deadheat").iterdir(), *BUILD.glob("_core*.so")]:
        (package / path.name).symlink_to(path)
    only_this = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]\n"
    (package.parent / "sitecustomize.py").write_text(only_this, encoding="utf-8")
    path = os.pathsep.join([str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path, "COVERAGE_FILE": str(BUILD / "coverage")}
    command = ["-m", "coverage", "run", "--branch", f"--include=*/deadheat/measures/*,{MEASURES}/*", "-m", "pytest"]
    subprocess.run(
        [sys.executable, *command, "-n0", "-p", "no:cacheprovider", *tests], cwd=ROOT, env=environment, check=False
    )


def counted() -> Branches:
    """Return the branches of the source, over all that was made of it."""
    by_number: dict[tuple[str, int, int], list[int]] = {}
    for notes in BUILD.rglob("*.gcno"):
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)]
        output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=BUILD).stdout
        for file in (file for line in output.splitlines() for file in json.loads(line)["files"]):
            path = (BUILD / file["file"]).resolve()
            if path.is_relative_to(CORE) and path.relative_to(CORE).parts[0] in FOLDERS:
                for line in file["lines"]:
                    counts = [branch["count"] for branch in line["branches"] if not branch["throw"]] or [line["count"]]
                    key = str(path.relative_to(CORE)), line["line_number"], len(counts)
                    before = by_number.setdefault(key, [0] * len(counts))
                    by_number[key] = [a + b for a, b in zip(before, counts, strict=True)]
    result: Branches = defaultdict(list)
    for (name, number, _), counts in sorted(by_number.items()):
        result[name, number] += counts
    return result


def report(branches: Branches) -> int:
    """Print the lines with a branch that was never taken, and the share of each folder; return how many these are."""
    texts = {name: (CORE / name).read_text(encoding="utf-8").splitlines() for name, _ in branches}
    taken, total, reasons = defaultdict(int), defaultdict(int), 0
    missing = 0
    for (name, number), counts in sorted(branches.items()):
        folder, text = name.split("/")[0], texts[name][number - 1]
        if text.strip() == "}":  # what is destroyed at the end, after an exception too
            continue
        if REASON in text:
            reasons += 1
            continue
        total[folder] += len(counts)
        taken[folder] += sum(count > 0 for count in counts)
        if not all(counts):
            missing += 1
            print(f"{name}:{number}: {sum(count == 0 for count in counts)} of {len(counts)}: {text.strip()}")
    for folder in FOLDERS:
        print(f"{folder}: {taken[folder]} of {total[folder]} branches taken")
    print(f"{reasons} lines have a reason")
    return missing


def report_measures() -> int:
    environment = os.environ | {"COVERAGE_FILE": str(BUILD / "coverage")}
    command = [sys.executable, "-m", "coverage", "report", "--show-missing", "--skip-covered"]
    output = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT).stdout
    print(output)
    return int(not re.search(r"^TOTAL.* 100%", output, re.MULTILINE))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.branches", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["core"], help="run the test program of the core alone")
    parser.add_argument("--keep", action="store_true", help="run nothing, list what was counted before")
    parser.add_argument("tests", nargs="*", default=TESTS, help="tests of the package")
    arguments = parser.parse_args()
    if not arguments.keep:
        build()
        run_core()
        if not arguments.only:
            run_python(arguments.tests)
    missing = report(counted())
    if not arguments.only:
        missing += report_measures()
    return int(missing > 0)


if __name__ == "__main__":
    raise SystemExit(main())
