"""A check by machine of every constant that covers roundings: `python -m tests.bounds` prints CONTRIBUTING's table.

Constants stand in `src/core/bounds.h` and `engine/distances/bounds.py`, each with lines that this program reads:

    check NAME = VALUE IN ROUNDOFFS: CLAIM for a, b >= 0; c in 0..1

In a claim, fl(x) is x rounded to float64 and fs(x) to float32, and off(x, n) is x after n roundings. z is at most k
smallest normal numbers in size, which underflow may lose. u and w are the unit roundoffs of the two types, tiny and
single_tiny their smallest normal numbers.

**Extremes.** fl(x) is x·(1 + δ), |δ| ≤ u, and interval arithmetic in fractions bounds a claim over all δ. A claim is
affine in every variable, and homogeneous in those that may be of any size: it holds in general if it holds where one of
these is 1 and the others are 0, and the rest are at the ends of their ranges.

**Small formats.** The same claim for all numbers of a format of a few bits and nine exponents, truly rounded; VALUE is
evaluated with the unit roundoff of the format. `SCORES` does the same for whole scores of rows of two to four numbers.

A share is the part of a constant that is needed in the worst case: 1 is a bound that is attained.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from deadheat.engine.distances import bounds

ROOT = Path(__file__).parents[1]
HEADER, MODULE = ROOT / "src/core/bounds.h", ROOT / "src/deadheat/engine/distances/bounds.py"
U, SINGLE = Fraction(1, 2**53), Fraction(1, 2**24)
KNOWN = {"u": U, "w": SINGLE, "tiny": Fraction(1, 2**1022), "single_tiny": Fraction(1, 2**126)}
CHECK = re.compile(r"^\s*(?://|#) check (\w+)(?: = ([^:]+))?: (.+?)(?: for (.+))?$", re.MULTILINE)


# Constants and checks ------------------------------------------------------------------------------------------------


class Check(NamedTuple):
    """A line of either file."""

    name: str
    in_roundoffs: str | None
    claim: ast.Compare
    domain: str


def evaluated(text: str) -> Fraction:
    """Return the exact value of a constant expression of C++ or Python."""
    text = re.sub(r"0x1p(-?\d+)", r"2**\1", text)
    return exact(ast.parse(text.strip(), mode="eval").body, {})


@cache
def constants() -> dict[str, Fraction]:
    """Return the constants of both files by name, without the private ones."""
    result: dict[str, Fraction] = {}
    for line in re.findall(r"^constexpr double (.+);$", HEADER.read_text(encoding="utf-8"), re.MULTILINE):
        result.update({name: evaluated(value) for name, value in re.findall(r"(\w+) = ([^,;]+)", line)})
    for statement in ast.parse(MODULE.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            result[statement.targets[0].id] = Fraction(getattr(bounds, statement.targets[0].id))
    return result


@cache
def checks() -> list[Check]:
    result = []
    for path in (HEADER, MODULE):
        for name, value, claim, domain in CHECK.findall(path.read_text(encoding="utf-8")):
            result.append(Check(name, value or None, compare_of(claim), domain))
    return result


def compare_of(claim: str) -> ast.Compare:
    tree = ast.parse(claim, mode="eval").body
    assert isinstance(tree, ast.Compare), claim
    return tree


def variables(domain: str) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """Return the variables of any size, and the ends of the others' ranges."""
    any_size: list[str] = []
    ranges = {}
    for part in filter(None, map(str.strip, domain.split(";"))):
        names, between = re.fullmatch(r"([\w, ]+?)(?: >= 0| in (.+))", part).groups()  # type: ignore[union-attr]
        for name in names.split(", "):
            if between:
                ranges[name] = tuple(between.split(".."))
            else:
                any_size.append(name)
    return any_size, ranges


# Extremes ------------------------------------------------------------------------------------------------------------


class Range(NamedTuple):
    """All numbers from low to high."""

    low: Fraction
    high: Fraction

    @classmethod
    def over(cls, ends: Iterator[Fraction] | list[Fraction]) -> Range:
        ends = list(ends)
        return cls(min(ends), max(ends))

    def __add__(self, other: Range) -> Range:  # type: ignore[override]
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Range) -> Range:  # type: ignore[override]
        return Range.over([a * b for a in self for b in other])

    def __truediv__(self, other: Range) -> Range:
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError
        return Range.over([a / b for a in self for b in other])

    def __pow__(self, other: Range) -> Range:
        assert other.low == other.high == int(other.low)
        assert self.low >= 0
        return Range.over([self.low ** int(other.low), self.high ** int(other.low)])


def root(value: Fraction) -> Range:
    """Bound √value to 2^-400 of it."""
    shift = 2 * (400 + value.denominator.bit_length())
    down = isqrt((value.numerator << shift) // value.denominator)
    return Range(Fraction(down, 1 << (shift // 2)), Fraction(down + 1, 1 << (shift // 2)))


def exact(node: ast.expr, known: dict[str, Any], *, rounded: bool = False) -> Any:
    """Return the range of an expression; with `rounded` that of all results that rounding may have."""
    ranges = extreme(node, {name: Range(value, value) for name, value in known.items()}, rounded)
    return ranges if rounded else ranges.low


def extreme(node: ast.expr, known: dict[str, Range], rounded: bool = True) -> Range:
    def of(child: ast.expr) -> Range:
        return extreme(child, known, rounded)

    def one_and(relative: Fraction) -> Range:
        return Range(1 - relative, 1 + relative) if rounded else Range(Fraction(1), Fraction(1))

    match node:
        case ast.Constant(value=int() | float() as value):
            return Range(Fraction(value), Fraction(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Range(Fraction(0), Fraction(0)) - of(operand)
        case ast.Name(id="z"):
            lost = known["k"].high * KNOWN["tiny"] if rounded else Fraction(0)
            return Range(-lost, lost)
        case ast.Name(id=name):
            return known[name]
        case ast.BinOp(left=left, op=op, right=right):
            name = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__",
                    ast.Pow: "__pow__"}[type(op)]  # fmt: skip
            return getattr(of(left), name)(of(right))  # type: ignore[no-any-return]
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
            return Range(root(of(inner).low).low, root(of(inner).high).high)
        case ast.Call(func=ast.Name(id="off"), args=[inner, count]):
            down = 1 - of(count).low * U  # at most (1 − u)^n and 1/(1 + u)^n
            return of(inner) * Range(down, 1 / down) if rounded else of(inner)
        case ast.Call(func=ast.Name(id="fl"), args=[inner]):
            return of(inner) * one_and(U)
        case ast.Call(func=ast.Name(id="fs"), args=[inner]):
            return of(inner) * one_and(SINGLE)
    raise ValueError(ast.unparse(node))


def degree(node: ast.expr, names: set[str]) -> int:
    """Return the degree in some variables of a polynomial in them."""
    match node:
        case ast.Name(id=name):
            return int(name in names or (name == "z" and "k" in names))
        case ast.Constant():
            return 0
        case ast.UnaryOp(operand=operand):
            return degree(operand, names)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return max(degree(left, names), degree(right, names))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return degree(left, names) + degree(right, names)
        case ast.BinOp(left=left, right=right) if degree(right, names) == 0:
            return degree(left, names)
        case ast.Call(func=ast.Name(id="fl" | "fs" | "off"), args=[inner, *_]):
            return degree(inner, names)
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]) if degree(inner, names) == 0:
            return 0
    raise ValueError(f"{ast.unparse(node)} is no polynomial in {names}")


def homogeneous(node: ast.expr, names: set[str]) -> bool:
    """Return whether all terms of a sum have the same degree."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            same = degree(left, names) == degree(right, names)
            return same and homogeneous(left, names) and homogeneous(right, names)
        case ast.BinOp(left=left, right=right):
            return homogeneous(left, names) and homogeneous(right, names)
        case ast.Call(args=[inner, *_]) | ast.UnaryOp(operand=inner):
            return homogeneous(inner, names)
    return True


def slack_of(check: Check) -> ast.expr:
    """Return the greater side of a claim less the other."""
    sides = check.claim.left, check.claim.comparators[0]
    less, more = sides if isinstance(check.claim.ops[0], ast.LtE) else sides[::-1]
    return ast.BinOp(more, ast.Sub(), less)


def holds(check: Check, known: dict[str, Fraction]) -> bool:
    """Return whether a claim is true for all roundings, and all values of its variables."""
    any_size, ranges = variables(check.domain)
    slack = slack_of(check)
    if any_size:
        assert homogeneous(slack, set(any_size)), ast.unparse(check.claim)
        assert degree(slack, set(any_size)) == 1, ast.unparse(check.claim)
    assert all(degree(slack, {name}) <= 1 for name in ranges), ast.unparse(check.claim)
    for ends in itertools.product(*([exact_end(end, known) for end in ends] for ends in ranges.values())):
        for one in any_size or [""]:
            sizes = {name: Fraction(int(name == one)) for name in any_size}
            try:
                if exact(slack, known | dict(zip(ranges, ends, strict=True)) | sizes, rounded=True).low < 0:
                    return False
            except ZeroDivisionError:
                return False
    return True


def by_extremes(check: Check) -> float:
    """Return the least part of a constant, or of its excess over 1, for which the claim holds; infinity if it does not.

    For a largest number allowed, return the smaller side of the claim as a part of the greater.
    """
    known = KNOWN | constants()
    value = known[check.name]
    if not holds(check, known):
        return np.inf
    if check.name.startswith("MOST"):
        sides = exact(check.claim.left, known), exact(check.claim.comparators[0], known)
        return float(min(sides) / max(sides))
    base = 1 if abs(value - 1) < Fraction(1, 10) and value != 1 else 0
    if holds(check, known | {check.name: Fraction(base)}):
        return 0.0
    part, step = Fraction(1), Fraction(1, 2)
    while holds(check, known | {check.name: base + (value - base) * part * step}):
        part *= step
    for _ in range(6):
        step = (1 + step) / 2
        while holds(check, known | {check.name: base + (value - base) * part * step}):
            part *= step
    return float(part)


def exact_end(end: str, known: dict[str, Fraction]) -> Fraction:
    return Fraction(exact(ast.parse(end.strip(), mode="eval").body, known))


# Small formats -------------------------------------------------------------------------------------------------------


class Format(NamedTuple):
    """Numbers with a significand of `bits` bits; float64 holds their sums and products exactly."""

    bits: int

    @property
    def roundoff(self) -> float:
        return 2.0**-self.bits

    def rounded(self, numbers: Any) -> Any:
        mantissa, exponent = np.frexp(numbers)
        return np.ldexp(np.rint(np.ldexp(mantissa, self.bits)), exponent - self.bits)

    def octaves(self, first: int, last: int) -> np.ndarray:
        one = 1 + np.arange(2.0 ** (self.bits - 1)) / 2.0 ** (self.bits - 1)
        return np.concatenate([one * 2.0**e for e in range(first, last + 1)])


def in_format(check: Check, format: Format) -> tuple[int, float] | None:
    """Return the number of cases of a claim in a small format, and the share that is reached; None without a VALUE."""
    any_size, ranges = variables(check.domain)
    if check.in_roundoffs is None or ranges or not any_size:
        return None
    octaves = [(0, 0)] + [(-5, 3)] * (len(any_size) - 1)
    axes = (np.concatenate([[0.0], format.octaves(*ends)]) for ends in octaves)
    known: dict[str, Any] = dict(zip(any_size, np.meshgrid(*axes, indexing="ij"), strict=True))
    known |= {"u": format.roundoff, "w": format.roundoff, "z": 0.0} | {
        name: float(value) for name, value in constants().items() if name.startswith("LEAST")
    }
    for other in checks():
        if other.in_roundoffs is not None:
            known[other.name] = eval(other.in_roundoffs, {}, known)
    known |= {"fl": format.rounded, "fs": format.rounded}
    code = compile(ast.fix_missing_locations(ast.Expression(slack_of(check))), "claim", "eval")
    slack = eval(code, {}, known)
    allowed = eval(code, {}, known | {"fl": np.asarray, "fs": np.asarray})
    there = allowed > 0
    share = float(np.max(1 - slack[there] / allowed[there], initial=0))
    return slack.size, share if slack.min() >= 0 else np.inf


# Whole scores in small formats ----------------------------------------------------------------------------------------
#
# Rows are rounded to the format: of all that is rounded to a number the ends differ most from it, half a step to either
# side. What is rounded is multiplied and added up as in the core; the truth is that of the ends.

Sums = Iterator[tuple[Any, Any, Any]]  # computed and true values, and how far these may be from each other


def sided(format: Format, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of some octaves, each with both ends of what is rounded to it."""
    numbers = format.octaves(first, last)
    below = np.where(np.frexp(numbers)[0] == 0.5, 0.5, 1.0) * format.roundoff
    half = np.exp2(np.floor(np.log2(numbers)))
    return np.concatenate([numbers] * 2), np.concatenate([numbers - below * half, numbers + format.roundoff * half])


def distinct(*arrays: np.ndarray) -> np.ndarray:
    return np.unique(np.stack([array.ravel() for array in arrays]), axis=1)


def products(format: Format) -> np.ndarray:
    """Return exact products of two rounded numbers, their true values, and their sizes: of one octave each."""
    rounded, real = sided(format, 0, 0)
    return distinct(np.multiply.outer(rounded, rounded), np.multiply.outer(real, real))


def of_sums(format: Format) -> Sums:
    """Two products, in either order, each rounded or not, less an offset."""
    exact_products, real = products(format)
    numbers, ends = sided(format, -3, 1)
    offset, real_offset = (np.concatenate([[0], some, -some])[:, None] for some in (numbers, ends))
    for exponent, fused in itertools.product(range(-format.bits - 1, 1), (False, True)):
        for sign in (1, -1):
            second, real_second = sign * 2.0**exponent * exact_products, sign * 2.0**exponent * real
            for one, real_one in zip(format.rounded(exact_products).tolist(), real.tolist(), strict=True):
                total = format.rounded(one + (second if fused else format.rounded(second)))
                allowed = bounds.of_sum(2, np.float32) * (real_one + np.abs(real_second))
                allowed = allowed + bounds.of_offset(real_offset, np.float64(0), 2, np.float32)
                yield format.rounded(total - offset), real_one + real_second - real_offset, allowed


def of_longer_sums(format: Format, dim: int) -> Sums:
    """Numbers of the format times 1, one after the other, and by halves."""
    terms = format.octaves(-2, 0)
    terms = np.concatenate([terms, -terms])
    for ahead in itertools.combinations_with_replacement(format.octaves(-2, 0).tolist(), dim - 2):
        for signs in itertools.product((1, -1), repeat=dim - 2):
            first = [sign * x for sign, x in zip(signs, ahead, strict=True)]
            a, b = terms[:, None], terms[None]
            real, allowed = sum(first) + a + b, bounds.of_sum(dim, np.float32) * (sum(ahead) + np.abs(a) + np.abs(b))
            running = 0.0
            for x in first:
                running = format.rounded(running + x)
            yield format.rounded(format.rounded(running + a) + b), real, allowed
            yield format.rounded(running + format.rounded(a + b)), real, allowed


def of_pairs(format: Format, kind: str) -> Sums:
    """Two differences or overlaps; of these less an offset."""
    numbers, ends = (np.concatenate([[0], some]) for some in sided(format, -3, 0))
    (q, x), (real_q, real_x) = (np.meshgrid(some, some) for some in (numbers, ends))
    if kind == "differences":
        rounded, real, size = np.abs(format.rounded(q - x)), np.abs(real_q - real_x), real_q + real_x
        bound, offsets = bounds.of_differences(2, np.float32), [0.0]
    else:
        rounded, real = np.minimum(q, x), np.minimum(real_q, real_x)
        size, bound, offsets = real, bounds.of_overlaps(2, np.float32), [0.0, 0.75, 1.125, 1.875]
    terms = distinct(rounded, real, size)
    for one, real_one, size_one in terms.T.tolist():
        for offset in offsets:
            total = format.rounded(format.rounded(one + terms[0]) - offset)
            allowed = bound * (size_one + terms[2]) + bounds.of_offset(np.float64(offset), np.float64(0), 2, np.float32)
            yield total, real_one + terms[1] - offset, allowed


def rows_of_two(format: Format) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(format.octaves(0, 0), np.concatenate([[0], format.octaves(-2, 2)]))
    return a.ravel(), b.ravel()


def norm(format: Format, a: np.ndarray, b: np.ndarray) -> Any:
    fl = format.rounded
    return fl(np.sqrt(fl(fl(a * a) + fl(b * b))))


def of_cosines(format: Format) -> Sums:
    """Rows of two numbers, times the reciprocals of their norms, multiplied."""
    fl, (a, b) = format.rounded, rows_of_two(format)
    factor = fl(1 / norm(format, a, b))
    x, y = fl(a * factor), fl(b * factor)
    allowed = bounds.of_cosine(bounds.of_sum(2, np.float32), 2)
    length = np.hypot(a, b)
    for k in range(len(a)):
        for sign in (1, -1):
            real = (a[k] * a + sign * b[k] * b) / (length[k] * length)
            yield fl(fl(x[k] * x) + sign * fl(y[k] * y)), real, allowed


def of_tangents(format: Format) -> Sums:
    """Rows of two numbers less a centre, exactly; as `tangents` of core/distances/rows.cpp computes them."""
    fl, dim = format.rounded, 2
    left_of_centre = (2 * dim + 2) * format.roundoff
    for c in map(np.array, itertools.combinations_with_replacement(format.octaves(0, 0).tolist(), 2)):
        rows = np.stack(np.meshgrid(*(format.octaves(-1, 1),) * 2), axis=-1).reshape(-1, 2)
        rows = rows[(rows / 2 <= c).all(axis=1) & (c / 2 <= rows).all(axis=1)]
        rows = rows[np.hypot(*(rows - c).T) <= np.hypot(*c) / 4]

        def dot(p: np.ndarray, q: np.ndarray) -> Any:
            return fl(fl(p[..., 0] * q[..., 0]) + fl(p[..., 1] * q[..., 1]))

        t, square = rows - c, dot(c, c)
        whole = fl(np.sqrt(dot(t, t)))
        for _ in range(2):
            t = fl(t - fl(c * fl(dot(t, c) / square)[:, None]))
        length, across, of_centre = fl(np.sqrt(dot(rows, rows))), dot(t, t), fl(np.sqrt(square))
        along = fl(dot(rows, c) / of_centre)
        shortened = fl(fl(across / fl(length * fl(length + along))) / of_centre)
        tangent = fl(fl(t / length[:, None]) - fl(c * shortened[:, None]))
        real = rows / np.hypot(*rows.T)[:, None] - c / np.hypot(*c)
        size = fl(fl(fl(np.sqrt(across)) + fl(left_of_centre * whole)) / length) * (1 + (dim + 5) * format.roundoff)
        yield np.hypot(*(tangent - real).T), 0.0, bounds.of_tangent(dim) * size + 1e-9


def of_norms(format: Format) -> Sums:
    """Norms and sums of sizes of rows divided by a number, rounded up: these are not below the true ones."""
    fl, (a, b) = format.rounded, rows_of_two(format)
    for scale in format.octaves(0, 0).tolist():
        factor = fl(1 / scale)
        x, y = fl(a * factor), fl(b * factor)
        for computed, real, roundings in (
            (norm(format, x, y), np.hypot(a, b) / scale, 2 + 4), (fl(x + y), (a + b) / scale, 2 + 1),
        ):  # fmt: skip
            allowed = bounds.rounded_up(computed, roundings) * (1 - format.roundoff) - computed
            yield np.maximum(real - computed, 0), 0.0, allowed


class Score(NamedTuple):
    title: str
    constants: str
    bits: int
    sums: Callable[[Format], Sums]
    in_tests: bool = True  # the others take seconds


SCORES = [
    Score("q·x − o of 2 numbers", "ROUNDINGS ROWS OFFSET SPARE OF_OFFSET", 4, of_sums),
    Score("sums of 3", "ROUNDINGS SPARE", 4, lambda format: of_longer_sums(format, 3)),
    Score("sums of 4", "ROUNDINGS SPARE", 5, lambda format: of_longer_sums(format, 4), in_tests=False),
    Score("city block of 2", "SPARE", 4, lambda format: of_pairs(format, "differences")),
    Score("overlaps of 2", "OFFSET SPARE OF_OFFSET", 4, lambda format: of_pairs(format, "overlaps")),
    Score("cosine of 2", "ROUNDINGS OF_NORMS", 5, of_cosines),
    Score("tangents of 2", "OF_TANGENT LEFT_OF_CENTRE OF_TANGENT_SIZE", 6, of_tangents),
    Score("norms and sums, rounded up", "SPARE", 5, of_norms),
]


def in_small_format(score: Score) -> tuple[int, float]:
    """Return the number of cases, and the largest error as a share of its bound."""
    cases, share = 0, 0.0
    with patch.object(bounds, "unit_roundoff", lambda _: 2.0**-score.bits):
        for computed, real, allowed in score.sums(Format(score.bits)):
            error = np.abs(computed - real)
            cases += error.size
            share = max(share, float(np.max(error / allowed)))
    return cases, share


# The table -----------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A constant: its claims that are proved, and the largest share that these need and that small formats reach."""

    name: str
    claims: int
    cases: int
    needed: float
    reached: float

    def __str__(self) -> str:
        proof = [f"{self.claims} claim{'s' * (self.claims > 1)}"] * (self.claims > 0)
        proof += [f"{self.cases:,} cases"] * (self.cases > 0)
        shares = zip((self.needed, self.reached), (self.claims, self.cases), strict=True)
        cells = (f"{share:.2g}" if there else "–" for share, there in shares)
        return f"| `{self.name}` | {', '.join(proof)} | {' | '.join(cells)} |"


def rows(scores: dict[str, tuple[int, float]]) -> list[Row]:
    """Return a row for each constant; `scores` has the cases and the share of some of SCORES, by title."""
    format, result = Format(4), []
    for name in constants():
        own = [check for check in checks() if check.name == name]
        tried = list(filter(None, (in_format(check, format) for check in own)))
        tried += [scores[score.title] for score in SCORES if name in score.constants.split() and score.title in scores]
        needed = max(map(by_extremes, own), default=0.0)
        reached = max((share for _, share in tried), default=0.0)
        result.append(Row(name, len(own), sum(cases for cases, _ in tried), needed, reached))
    return result


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bounds", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out what the tests leave out")
    arguments = parser.parse_args()
    scores = {}
    print("| scores | bits | cases | share reached |\n|---|---|---|---|")
    for score in SCORES:
        if score.in_tests or not arguments.quick:
            scores[score.title] = in_small_format(score)
            cases, share = scores[score.title]
            print(f"| {score.title} | {score.bits} | {cases:,} | {share:.2g} |", flush=True)
    print("\n| constant | checked by | share needed | share reached |\n|---|---|---|---|")
    table = rows({score.title: scores[score.title] for score in SCORES if score.in_tests})
    for row in table:
        print(row)
    return int(max(share for _, share in scores.values()) > 1 or any(max(row[3:]) > 1 for row in table))


if __name__ == "__main__":
    raise SystemExit(main())
