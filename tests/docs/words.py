"""Check the words of pages, docstrings, comments, messages and names: ``python -m tests.docs.words PATH...``.

The tables are STYLE's: a pattern of words and what to write instead, for files whose path matches the brackets before
it. Patterns ignore case, and a space in one matches a line break too.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

TEXT = r"""
\bhouses?\b|\brooms\b -> package, subpackage
\b(front )?doors?\b -> public function
\bfloors\b|\b(ground|first|upper|lower|top) floor\b -> layer
\btwins?\b -> reference implementation
\btold\b|\btells?( \w+)? apart\b -> decided, distinguishes
\bbeside\b -> next to, in addition to, compared with, outside
\b(surely|well|so|be told) apart\b -> separated, distinct, at this distance
\balike\b -> identical, same pattern, equal support, common dtype
\bturn(ed|ing)\b(?! (off|on|into|round)) -> transposed
\btwofold\b|twice the precision -> double-double, Dot2
\bheed(s|ed)?\b -> use, reject
[(deadheat|docs)/measures] \bone end\b|\bextremes\b -> first or last hit
[.md] (?<!-)\bcuts?\b(?!-?offs?\b) -> threshold; (verb) truncate, clip, split
\brungs?\b -> step
\bopen (items?|pairs?)\b|what (is|they|ties?) (left|leaves?) open|\bleft open\b -> undecided item
\busual (squares?|sums?)\b -> common offset
[src/core/(pass/|distances/int8)] \bmirror(s|ed)?\b -> symmetric block
[src/core/(pass/|distances/int8)] \b(a|the|its|each|one|both|whose) (square|sides?)\b(?! (by|root|of the)) -> tile, rows
places of few numbers|\bmeetings?\b -> match counts
\basking\b(?! (for|the|an?|it|whether|to|how)\b) -> queries with a relevant item
\blet go\b|\blets go\b -> free
\blooked at\b -> examined
\bwhoever\b -> the noun: users of X, a person who
as far as there (is|are)|\bin hand\b|\bwhat of\b -> the noun
\bforetold\b -> is unpredictable
of every order in -> exact (all orders enumerated) in
what is surely -> items that are certainly
without what of -> skipping
sizes of what its sum has lost -> the total size of its rounding errors
of which too much may be -> queries with many candidates
\bsurely tie\b|equally many places -> if rows have few distinct values, ... tie
bound that is attained, more a defect -> 1 means that the bound is attained; above 1 it is wrong
attacks each constant -> searches for the worst case of every constant
no order of the samples to search for -> `dh.exploit` does not support it, because ...
it is nobody\b|of a run nobody|nobody knows whether -> a run does not show whether ...
what does nothing get|nothing gets?\b -> the score of a random embedding
behind all that was|what watches over -> at the end; deadheat does not detect ...
allow each query an order of its own -> break ties separately for each query
ties that noise has broken -> how much the bounds widen if distances within float32 precision tie
of one score for each probe: that of -> name the quantity, then how it is computed
give it twice -> repeat the option: first ..., then ...
is called that is|is sorted by: |is not above for any -> Return ..., and define it
\b(so )?manieth\b -> every `step`-th
such as they are|as they look|are what they are -> say how: unchanged, by their form
fetched once for so many -> loaded once per `COLUMNS` columns
None of the others gives -> No other library reports
Times are of two -> Measured on two cores
at home where|trains nothing|searches nothing|do as well as arrays -> plain words, as they were replaced
(left out|excluded|looked for),? and said|order that nobody knows -> excluded and reported; in unknown order
what no (order|tie)[^.]* falls? short of -> the score guaranteed under any tie-breaking
\bhand(s|ed|ing)? in\b|(page|report) to hand on -> submit; a shareable report
\bcomput(e|es|ed|ing|ation)( \w+){0,5} anew\b -> recomputed
"""
NAMES = r"""
house|doors?|floors|rooms -> package, public function, layer
twins? -> reference
told|tells -> decided
beside -> offset_error, next_to
apart -> all_distinct, disjoint_support, separated, difference
alike -> same_pattern, equal_support, common_dtype
turned -> transposed
twofold -> dot2, double_double
go_on -> raise_if_cancelled
heeds?|heeded -> used_options, reject_unused_options
aside -> private_counts
rungs? -> step
open_items? -> undecided
meetings? -> match_counts
spreads? -> range, bound, tolerance, deviation: the one that is meant
reach(es)? -> range, bound, tolerance, depth: the one that is meant
asking -> with_relevant
[src/core/|deadheat/engine/] usual -> offset, common_offset
[src/core/(pass/|distances/int8)] mirrors?|square|sides? -> symmetric_block, tile, rows, columns
"""  # whole parts of a name, in snake case
COMPREHENSION = {"of", "each", "found", "came", "place"}  # elsewhere a variable says what it is
PERMITTED = [  # the files, exact words, and why they are right there
    ("pass/(exact_pairs|scores|integer_rows)", "square(_(of|factor|relative|tiny))?|(item|query)_square", "arithmetic"),
    ("docs/(words|test_language).py$", ".*", "the table itself, and its test"),
]
_CLAUSE = re.compile(r"(What|How|Where|Who|Whose|Whoever|Which|Whether|When|Why)\b")
_C_PROSE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_PAGE_CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|\]\([^)\s]*\)|<[^>\n]*>", re.DOTALL | re.MULTILINE)
_PAGE_LOOP = re.compile(rf"^ *(?:>>> |\.\.\. )? *(?:for )?({'|'.join(COMPREHENSION)}) (?:=|in [^)\]]*:$)", re.MULTILINE)
_DECLARED = re.compile(rf"(?<!return)(?<=[\w>&*\]]) [&*]*({'|'.join(COMPREHENSION)})\s*(=(?!=)|:(?!:)|;|\{{|,|\))")
_KINDS = {".py": "python", ".pyi": "python", ".h": "core", ".cpp": "core", ".cu": "core"}
_OTHER_KINDS = {".md", ".html", ".js", ".toml", ".yml"}
_ONE_SCREEN = "a name that says what it is: this one is for comprehensions"

Name = tuple[int, str, bool]  # its line, itself, and whether it is a variable outside comprehensions


def _rules(table: str, pattern: Callable[[str], str]) -> list[tuple[re.Pattern[str], re.Pattern[str], str]]:
    """Return the files, the words and what to write, for each line of a table."""
    lines = (re.fullmatch(r"(?:\[(.+)\] )?(.+) -> (.+)", line) for line in table.strip().splitlines())
    parts = [line.groups(default="") for line in lines if line]
    return [(re.compile(files), re.compile(pattern(words), re.IGNORECASE), write) for files, words, write in parts]


_TEXT = _rules(TEXT, lambda words: words.replace(" ", r"\s+"))
_NAMES = _rules(NAMES, lambda words: rf"(?:^|_)(?:{words})(?:_|$)")


def _blank(text: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", text[0])


def _prose(path: Path, text: str) -> str:
    """Return the text of a page, or the comments and strings of code, where they stand; all else is blank."""
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
    kept = list(re.sub(r"[^\n]", " ", text))
    for start, stop in spans:
        kept[start:stop] = text[start:stop]
    return re.sub(r"[#\"'`]|//+", lambda mark: " " * len(mark[0]), "".join(kept))


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
