"""`audit_evaluator`: somebody's metric on constructed inputs whose values are known.

fn ──> no ties: what does it compute? ──> ties, orders, types, labels, scales, threads ──> observations ──> findings
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat import measures
from deadheat.audits.evaluator import general, inputs, machine, numbers, orders
from deadheat.audits.evaluator.bench import Bench
from deadheat.audits.evaluator.calling import FORMS, Evaluator, thread_control
from deadheat.audits.evaluator.result import EvaluatorAudit
from deadheat.audits.finding import Finding, most_serious_first
from deadheat.errors import InvalidTypeError
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.floats import plain_floats

_INPUTS_WITHOUT_TIES = 3
_MOST = 1_000_000  # classes, items of each, and draws


@plain_floats
def audit_evaluator(
    fn: Evaluator,
    *,
    form: str = "embeddings",
    measure: str | None = None,
    name: str | None = None,
    version: str | None = None,
    n_classes: int = 10,
    class_size: int = 100,
    draws: int = 1,
    seed: int = 0,
) -> EvaluatorAudit:
    """Find out what somebody's metric computes, and whether it can be made to give something else.

    The function is called with some forty constructed inputs, of which it is known what they are worth: without ties,
    all tied, of few levels, with copies, in many orders (adversarial ones too), types, labels and scales, on one thread
    and on two.

    Parameters
    ----------
    fn : callable
        Takes two arrays and returns one number, higher being better. It gets copies, and may raise.
    form : {"embeddings", "scores", "query"}
        What the two arrays are: embeddings (n, dim) float32 and labels (n,) int64, each sample a query ranked against
        all others; scores (n_query, n_item) float64, highest best, and relevance of that shape, bool; or both of one
        query, (n_item,), and the audit takes the mean over the queries that have a relevant item.
    measure : str, optional
        What the function is meant to compute; by default, all measures are tried.
    name, version : str, optional
        For the report; by default where the function was defined.
    n_classes, class_size : int
        Of the samples of the system that knows nothing.
    draws : int
        Random orders of these.
    seed : int
        Of all inputs.

    Returns
    -------
    EvaluatorAudit
        `passes` says whether nothing serious was found.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If an argument breaks its rule. What `fn` raises is a finding.

    Notes
    -----
    **Ties:** what is possible, lower to upper, and what random rankings are expected to get is deadheat's own exact
    result for the measure that `fn` agrees with where nothing ties. An input is out of range if no order of tied items
    gives its value, up to 1e-6. If several definitions agree, their ranges are joined. If none does, only invariance
    is checked.

    The standard deviation above random is that of the mean over queries that each break their ties on their own.

    **Undefined:** NaN is a finding, unless nothing is defined. What is written to standard output by `fn` stays there.

    Examples
    --------
    Precision at 1 by `argmax`, which takes the first of equals, so that the order of the list counts:

    >>> def first_hit(scores, relevant):
    ...     return relevant[scores.argmax()]
    >>> audit = audit_evaluator(first_hit, form="query", n_classes=4, class_size=5)
    >>> audit.definitions[0], audit.ties, audit.passes
    ('P@1, the highest score first', 'by order', False)
    >>> [each.name for each in audit.findings if each.severity == "serious"]
    ['sample order', 'sample order with ties', 'place in the list']
    """
    if not callable(fn):
        raise InvalidTypeError("fn", f"must be callable, but is {checks.shown(fn)}")
    checks.choice(form, FORMS, "form")
    asked = None if measure is None else measures.parse(measure)
    n_classes, class_size = (
        checks.whole_number(n_classes, "n_classes", 2, _MOST),
        checks.whole_number(class_size, "class_size", 2, _MOST),
    )
    draws, seed = checks.whole_number(draws, "draws", 0, _MOST), checks.whole_number(seed, "seed")
    labels = np.repeat(np.arange(n_classes), class_size)
    bench = Bench(fn, form, asked, len(labels) - 1)
    bench.define(_without_ties(bench, labels, seed))
    empty = orders.empty_system(bench, labels, draws, seed)
    findings = [
        *_definition(bench, None if asked is None else asked.name),
        *orders.findings_of_empty(bench, empty),
        *orders.without_ties(bench, seed),
        *orders.with_ties(bench, seed),
        *orders.by_place(bench, len(labels), class_size),
        *numbers.second_arguments(bench, seed),
        *numbers.types(bench, seed),
        *numbers.scales(bench, seed),
        *numbers.nothing_to_find(bench, seed),
        *machine.repeated(bench, seed),
        *machine.arguments(bench),
        *general.out_of_range(bench),
        *general.not_a_number(bench),
        *general.errors(bench),
    ]
    known = tuple(map(str, bench.definitions))
    title = name or f"{getattr(fn, '__module__', '')}:{getattr(fn, '__qualname__', type(fn).__name__)}"
    unknown = () if thread_control() else ("Threads were not tried: that needs threadpoolctl.",)
    return EvaluatorAudit(
        title, form, version, known, most_serious_first(findings), tuple(bench.seen), empty, len(labels), unknown
    )


def _without_ties(bench: Bench, labels: Int64, seed: int) -> Iterator[inputs.Case]:
    """Small inputs with uneven classes, and one of the size of the empty system, so that cutoffs show."""
    small, maker = inputs.small_labels(), bench.maker
    for number in range(_INPUTS_WITHOUT_TIES):
        yield maker.case(f"no ties, {number + 1}", maker.apart(maker.distinct(small, seed + number)), small)
    yield maker.case(f"no ties, {len(labels)} samples", maker.apart(maker.far(labels, seed)), labels)


def _definition(bench: Bench, asked: str | None) -> Iterator[Finding]:
    """What the function agrees with where nothing ties."""
    agree = list(map(str, bench.definitions))
    figures = {"tried": len(bench.tried), "agree": agree}
    if bench.definitions:
        sentence = f"Where nothing ties, it agrees with {' and '.join(agree)}."
        yield Finding("definition", "note", sentence, figures)
    elif asked is not None:
        sentence = f"Where nothing ties, it does not give {asked}, in none of {len(bench.tried)} readings."
        yield Finding("definition", "serious", sentence, figures, "Compare it with deadheat.evaluate query by query.")
    else:
        sentence = f"Where nothing ties, none of {len(bench.tried)} definitions fits, so that its range is not known."
        yield Finding("definition", "warning", sentence, figures, "Say which measure it is, and compare on an example.")
