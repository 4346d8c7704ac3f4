"""Check the words of pages, docstrings, comments, messages and names: ``python -m tests.docs.words PATH...``.

The words are in `words.txt`. Further findings: variables with the names of comprehensions, docstrings that begin with a
clause, class names with two meanings, and second aliases of a module.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

COMPREHENSION = {"of", "each", "found", "came", "place"}  # elsewhere a variable says what it is
PERMITTED = [  # the files, exact words, and why they are right there
    ("engine/ties/rounded.py$", "of", "a public argument: `Rounded(of=)`"),
    ("pass/(exact_pairs|scores|integer_rows)", "square(_(of|factor|relative|tiny))?|(item|query)_square", "arithmetic"),
    ("docs/(words|test_language).py$", ".*", "the examples of the test, and words of the rule"),
]
_CLAUSE = re.compile(r"(What|How|Where|Who|Whose|Whoever|Which|Whether|When|Why)\b")
_C_PROSE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_PAGE_CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|\]\([^)\s]*\)|<[^>\n]*>", re.DOTALL | re.MULTILINE)
_PAGE_LOOP = re.compile(rf"^ *(?:>>> |\.\.\. )? *(?:for )?({'|'.join(COMPREHENSION)}) (?:=|in .*:$)", re.MULTILINE)
_DECLARED = re.compile(rf"(?<!return)(?<=[\w>&*\]]) [&*]*({'|'.join(COMPREHENSION)})\s*(=(?!=)|:(?!:)|;|\{{|,|\))")
_KINDS = {".py": "python", ".pyi": "python", ".h": "core", ".cpp": "core", ".cu": "core"}
_OTHER_KINDS = {".md", ".html", ".js", ".toml", ".yml"}
_ONE_SCREEN = "a name that says what it is: this one is for comprehensions"

Name = tuple[int, str, bool]  # its line, itself, and whether it is a variable outside comprehensions


_LINES = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines()
_RULES = [
    rule.groups(default="")
    for line in _LINES
    if (rule := re.fullmatch(r"(?:\[(.+)\] )?(NAME )?([^#].*) -> (.+)", line))
]
_TEXT = [
    (re.compile(files), re.compile(words.replace(" ", r"\s+"), re.IGNORECASE), write)
    for files, name, words, write in _RULES
    if not name
]
_NAMES = [
    (re.compile(files), re.compile(rf"(?:^|_)(?:{words})(?:_|$)", re.IGNORECASE), write)
    for files, name, words, write in _RULES
    if name
]


def _blank(text: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", text[0])


def _prose(path: Path, text: str) -> str:
    """Return the text of a page, or the comments and strings of code, in the lines where they stand."""
    kind = _KINDS.get(path.suffix)
    if kind is None:
        return _PAGE_CODE.sub(_blank, text) if path.suffix == ".md" else text
    if kind == "core":
        spans = [match.span() for match in _C_PROSE.finditer(text)]
    else:
        lines = io.StringIO(text).readlines()
        starts = [0, *itertools.accumulate(map(len, lines))]
        kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type in kinds]
        ends = [(token.start, token.end) for token in tokens]
        spans = [(starts[row - 1] + column, starts[last - 1] + end) for (row, column), (last, end) in ends]
    kept, end = [], 0
    for start, stop in spans:
        kept += ["\n" * text.count("\n", end, start), " ", text[start:stop]]
        end = stop
    return re.sub(r"[^\S\n]+", " ", re.sub(r"[#\"'`]|//+", " ", "".join(kept)))


def _python_names(nodes: list[ast.AST]) -> Iterator[Name]:
    """Yield the names that are defined."""
    bound: list[ast.AST] = [node.target for node in nodes if isinstance(node, ast.comprehension)]
    bound += [node.args for node in nodes if isinstance(node, ast.Lambda)]
    free = {id(name) for part in bound for name in ast.walk(part)}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name, False
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.attr, id(node) not in free
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg, id(node) not in free


def _core_names(code: str) -> Iterator[Name]:
    """Yield each identifier once, and the variables; the head of a loop in one line is like a comprehension."""
    seen: set[str] = set()
    for number, line in enumerate(code.splitlines(), 1):
        names = set(re.findall(r"[A-Za-z_]\w*", line)) - seen
        seen |= names
        yield from ((number, name, False) for name in sorted(names))
        short = line.rstrip().endswith((";", "}")) and (re.match(r"\s*(for|if) \(", line) or "](" in line)
        yield from ((number, match[1], True) for match in _DECLARED.finditer(line) if not short)


def _openings(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the docstrings, also those of attributes."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value.strip()


def findings(path: Path) -> list[str]:
    """Return one line for each word of a file that should be another."""
    text = path.read_text(encoding="utf-8")
    openings: list[tuple[int, str]] = []
    if path.suffix in _OTHER_KINDS:
        names = [(text.count("\n", 0, match.start(1)) + 1, match[1], True) for match in _PAGE_LOOP.finditer(text)]
    elif _KINDS[path.suffix] == "python":
        nodes = list(ast.walk(ast.parse(text)))
        names, openings = list(_python_names(nodes)), list(_openings(nodes))
    else:
        names = list(_core_names(_C_PROSE.sub(_blank, text)))
        comments = re.finditer(r"(?:\A|(?:^|\n)(?!\s*//)[^\n]*\n)\s*///? ([^\n]*)", text)
        openings = [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in comments]
    prose, shown = _prose(path, text), path.as_posix()
    wrong = [(line, opening[:40], "a verb or a noun first") for line, opening in openings if _CLAUSE.match(opening)]
    wrong += [(line, name, _ONE_SCREEN) for line, name, variable in names if variable and name in COMPREHENSION]
    for files, words, write in _TEXT:
        if files.search(shown):
            wrong += [(prose.count("\n", 0, match.start()) + 1, match[0], write) for match in words.finditer(prose)]
    snake = {name: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name) for _, name, _ in names}
    for files, words, write in _NAMES:
        if files.search(shown):
            private = {name for name, parts in snake.items() if words.search(parts)}
            wrong += [(line, name, write) for line, name, _ in names if name in private]
    permitted = [words for files, words, _ in PERMITTED if re.search(files, shown)]
    return [
        f"{shown}:{line}: {' '.join(words.split())} -> write {write}"
        for line, words, write in sorted(set(wrong))
        if not any(re.fullmatch(exact, words, re.DOTALL) for exact in permitted)
    ]


def shared_names(package: Path) -> list[str]:
    """Return a line for each class whose name another module has too, and for each second alias of a module."""
    classes: dict[str, list[str]] = {}
    aliases: dict[str, dict[str, str]] = {}
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name.lstrip("_"), []).append(f"{path}:{node.lineno}")
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    module = package.parent / f"{node.module}.{name.name}".replace(".", "/")
                    if module.is_dir() or module.with_suffix(".py").exists():
                        known = aliases.setdefault(f"{node.module}.{name.name}", {})
                        known.setdefault(name.asname or name.name, f"{path}:{node.lineno}")
    same = {name: where for name, where in classes.items() if len(where) > 1}
    several = {module: known for module, known in aliases.items() if len(known) > 1}
    lines = [f"{at}: class {name} -> write another name: also in {', '.join({*where} - {at})}"
             for name, where in same.items() for at in where]  # fmt: skip
    return lines + [f"{at}: {alias} -> write one alias of {module}, not {', '.join(known)}"
                    for module, known in several.items() for alias, at in known.items()]  # fmt: skip


def check(*paths: Path) -> list[str]:
    """Return the findings of all files below the paths."""
    every = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    lines = [line for file in every if file.suffix in {*_KINDS, *_OTHER_KINDS} for line in findings(file)]
    near = {part for path in paths for part in (path / "deadheat", path, *path.parents)}
    packages = [part for part in near if part.parts[-2:] == ("src", "deadheat")]
    within = tuple(map(str, paths))
    return lines + [line for package in packages for line in shared_names(package) if line.startswith(within)]


if __name__ == "__main__":
    wrong = check(*(Path(path).resolve() for path in sys.argv[1:]))
    print(*(line.replace(f"{Path.cwd()}/", "") for line in wrong), f"{len(wrong)} findings", sep="\n")
    raise SystemExit(bool(wrong))
