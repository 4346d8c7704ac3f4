"""The report on a profile: its measures as people read them, with the facts about its ties."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.engine.profiles.parts import judged_at_level, relevant_first
from deadheat.engine.profiles.profile import TieCounts, TieProfile
from deadheat.errors import InputError, InvalidValueError
from deadheat.inputs.files import sentences
from deadheat.inputs.samples import QueryLabels
from deadheat.measures.completions import Unjudged
from deadheat.measures.names import parse
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.averaging import Average, Averaging, measure_names, query_weights, require_no_measures
from deadheat.reports.breakdown import Breakdown, by_class, by_query
from deadheat.reports.result import Result, results_of
from deadheat.reports.tables import DIGITS, count, has_ties
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.caching import cached_property
from deadheat.support.lazy import lazy
from deadheat.support.triple import ByName, Triple

if TYPE_CHECKING:
    from deadheat.reports import slices
    from deadheat.reports.statistics.intervals import Intervals
else:
    slices = lazy("deadheat.reports.slices")


_INTERVAL_SETTINGS = ("confidence_level", "resample", "method", "n_resamples", "seed")  # of `Result.interval`
_FEW_JUDGED = 0.5  # of the first documents: a value depends more on what was not judged than on what was
_NOT_IN_SCALARS = re.compile(r"[^A-Za-z0-9.-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")  # a byte that is not UTF-8, or half a character; neither can be written


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


@dataclass(frozen=True, eq=False)
class Report(Answer, ByName[Result]):
    """The measures of a profile, and the facts about its ties.

    `report["mAP"]` is the `Result` for a measure, under any of its names; one that was not asked for is computed
    from the profile, which the report keeps. `dict(report)` has those that were asked for. Printing a report gives a
    table in per cent; everything else is a fraction in [0, 1].

    `to_text`, `to_markdown` and `to_latex` take ``digits=``, the decimals to show. With ``std=True`` these, `to_dict`,
    `to_json`, `to_pandas`, `to_polars` and `to_arrow` also hold the standard deviation of each mean over random
    tie-breaking. With ``interval=True``, or settings of `Result.interval` (``interval={"resample": "query"}``), they
    hold an interval over ties and sampling, from the low end for the lower bound to the high end for the upper.

    Attributes
    ----------
    profile : TieProfile
        The profile that was measured.
    measures : tuple of str
        The measures that the table shows.
    singletons, average : str
        The treatment of queries without a relevant item, and the units that the mean is over.
    distance : str or None
        The distance, where the report comes from embeddings.
    labels : (n_query,) or None
        The labels of the queries, where they were given.
    tie_rule : str or None
        The rule for ties: ``"exact"``, a rounding such as ``"float16 similarity"``, or a tolerance; None if not known.
    source : str
        The files of the embeddings, where the task was made from files.
    files : mapping of str to tuple of str
        By argument, the files for which a pattern such as ``emb-*.npy`` stood, in the order in which they were taken.
    n_in_gallery : int
        Queries that are in the gallery themselves, as an equal row with their label, and are ranked against it; 0 where
        equal rows prove nothing, because the gallery has as many of its own.
    n_excluded : int
        Queries whose own row in the gallery was left out (`exclude`).
    separate_gallery : bool
        True if the queries are known to have been ranked against a gallery of others. If not, intervals and tests take
        the classes of the queries as the independent units, where labels are known.
    knows_gallery : bool
        True if relevant items that were not ranked are known not to be in the gallery. The report then counts them, and
        `ceilings` has what they set.
    by_id : dict of str to float, or None
        The values of trec_eval for a run, if they were asked for; it ranks tied documents by their id.
    remarks : tuple of str
        Sentences about what was evaluated that are shown below the table, such as queries that a run does not have.
    judged : TieProfile or None
        The profile of the judged documents alone, for bpref of a run; None where all items are judged.
    coverage : function or None
        It makes the profile in which all judged documents of a run are relevant, for Judged@k.
    pool : function or None
        Where unjudged documents are unknown, from the id of a query to those that were ranked for it: `compare` and
        `leaderboard` take the union of all systems.
    rel : int or float or None
        The least gain that is relevant, for a measure whose name gives none: where it is 2, ``report["AP"]`` is the
        ``mAP(rel=2)`` of the table.
    weights : (n_query,) or None
        The weights of the queries in means over queries, where they were given; `weighted` sets them.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)], []], n_ranked=[2, 2, 2])
    >>> print(evaluate(profile, ["mAP", "Hit@1"]))
    measure (%)   lower  expected   upper
    mAP           75.00     87.50  100.00
    Hit@1         50.00     75.00  100.00
    <BLANKLINE>
    3 queries, 1 of them without a relevant item (a singleton) and left out of the means.
    Ties between relevant and irrelevant items: 1 group in 1 query, of 2 items.
    """

    profile: TieProfile = field(repr=False)
    measures: tuple[str, ...]
    singletons: str = "skip"
    average: str = "query"
    labels: Any = field(default=None, repr=False)
    distance: str | None = None
    tie_rule: str | None = None
    source: str = ""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    n_in_gallery: int = 0
    n_excluded: int = 0
    separate_gallery: bool = field(default=False, repr=False)
    knows_gallery: bool = field(default=False, repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)
    by_id: Mapping[str, float] | None = field(default=None, repr=False)
    judged: TieProfile | None = field(default=None, repr=False)
    coverage: Callable[[], TieProfile] | None = field(default=None, repr=False, compare=False)
    pool: Callable[[str], set[str]] | None = field(default=None, repr=False, compare=False)
    rel: float | None = None
    weights: Any = field(default=None, repr=False)
    _results: dict[str, Result] = field(default_factory=dict, init=False, repr=False)
    _intervals: dict[Any, Intervals] = field(default_factory=dict, init=False, repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Report):
            return NotImplemented
        own, its = (
            {each.name: getattr(one, each.name) for each in fields(Report) if each.init and each.compare}
            for one in (self, other)
        )
        return all(np.array_equal(own.pop(name), its.pop(name)) for name in ("labels", "weights")) and own == its

    def __hash__(self) -> int:
        return hash((self.measures, self.singletons, self.average, self.distance))

    def __getitem__(self, name: str) -> Result:
        """Return the result for a measure; raises ValueError for an unknown name."""
        own = self._own_name(name)
        if own not in self._results:
            self._compute([own], threads=1)
        return self._results[own]

    def _own_name(self, name: str) -> str:
        """Return the name that the table has for a measure; raises ValueError for an unknown name."""
        return parse(name).at_level(self.rel).name

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __contains__(self, name: object) -> bool:
        """Return whether the table shows a measure, under any of its names."""
        try:
            return isinstance(name, str) and self._own_name(name) in self.measures
        except InputError:
            return False

    def _compute(self, names: Iterable[str], threads: int) -> None:
        """Add the results for some measures."""
        of_profile: dict[tuple[str, float | None], list[str]] = {}  # which documents, and from which gain on
        for measure in map(parse, checks.listed(names, "names", "names of measures")):
            forms = measure.row.forms
            kind = "coverage" if forms.coverage else "judged" if forms.judged and self.judged is not None else ""
            of_profile.setdefault((kind, measure.rel if kind else None), []).append(measure.name)
        for (kind, level), some in of_profile.items():
            profile, of_coverage = self.__profile_for(kind, level), kind == "coverage" and self.coverage is not None
            results = results_of(profile, some, self.singletons, self._averaging, threads, of_coverage)
            self._results.update(results)

    def __profile_for(self, kind: str, level: float | None) -> TieProfile:
        """Return the profile of all documents, of the judged ones, or in which these are relevant."""
        if kind == "judged" and self.judged is not None:
            return judged_at_level(self.judged, level)
        return self.coverage() if kind == "coverage" and self.coverage is not None else self.profile

    @property
    def n_query(self) -> int:
        """The number of queries, singletons included."""
        return self.profile.n_query

    @property
    def n_singleton(self) -> int:
        """The number of queries without a relevant item."""
        return int((self.profile.n_relevant == 0).sum())

    @cached_property
    def _averaging(self) -> Averaging:
        """The averaging of the report, over queries or over classes."""
        ids = self.profile.query_ids
        return Averaging(self.average, self.n_query, self.labels, self.separate_gallery, ids, self.weights)

    @cached_property
    def n_unreachable(self) -> Int64:
        """The relevant items of each query that are not in the gallery, (n_query,); 0 where that is not known."""
        if not self.knows_gallery:
            return np.zeros(self.n_query, dtype=np.int64)
        n_ranked_relevant = np.bincount(self.profile.query_of_group, self.profile.tied_relevant, self.n_query)
        return self.profile.n_relevant - n_ranked_relevant.astype(np.int64)

    @cached_property
    def ceilings(self) -> dict[str, float]:
        """By measure of the table, its value with all relevant items of the gallery first; empty if none is missing."""
        if not self.n_unreachable.any() or self.profile.n_unjudged is not None:
            return {}
        names = [name for name in self.measures if not parse(name).row.forms.coverage]
        best = results_of(relevant_first(self.profile), names, self.singletons, self._averaging, threads=1)
        return {name: best[name].upper if name in best else self[name].upper for name in self.measures}

    @property
    def classes(self) -> Int64 | None:
        """The class of each query by number, (n_query,); None where the labels were not given."""
        return self._averaging.classes

    @property
    def n_class(self) -> int | None:
        """The number of classes with a query that counts; None unless the average is over classes."""
        if self.average != "class" or self.classes is None:
            return None
        return len(np.unique(self.classes[(self.profile.n_relevant > 0) | (self.singletons != "skip")]))

    @property
    def ties(self) -> TieCounts:
        """The mixed tie groups: their number, the number of queries with any, and the size of the largest."""
        return self.profile.ties

    def weighted(self, weights: ArrayLike | Mapping[Any, float]) -> Report:
        """Return the report with weighted means over queries, such as by traffic or by the size of a group.

        Parameters
        ----------
        weights : (n_query,) or dict
            Finite, not negative, and not all 0: one for each query, or ``{query_id: weight}``. A query of weight 0 is
            left out. Only ratios count: weights 1, 3 and 2, 6 give the same means.

        Returns
        -------
        Report
            Means are Σ w·v / Σ w. Intervals draw queries, or classes, each with its weight, and `deadheat.compare`
            swaps signs of w·(a − b).

        Raises
        ------
        ValueError, TypeError
            If the weights are not as described, or the report has means over classes or trec_eval's values.

        Examples
        --------
        The grouped AUC of recommender systems weighs the AUC of a user by their impressions:

        >>> from deadheat import evaluate, TieProfile
        >>> profile = TieProfile.from_groups([[(0, 0, 1, 1)], [(1, 0, 1, 1)]], n_ranked=[2, 2])
        >>> report = evaluate(profile, "AUC")
        >>> report["AUC"].lower, report.weighted([3, 1])["AUC"].lower
        (0.5, 0.75)
        """
        if self.average != "query" or self.by_id is not None:
            rule = "over classes" if self.average != "query" else "of trec_eval, ranked by id"
            raise InvalidValueError("weights", f"must be left out of means {rule}")
        checked = query_weights(weights, self.n_query, self.profile.query_ids)
        return replace(self, weights=checked)

    @property
    def effective_n_query(self) -> float:
        """The number of equally weighted queries that the weights are worth, (Σ w)² / Σ w² (Kish 1965)."""
        if self.weights is None:
            return float(self.n_query)
        return math.fsum(self.weights) ** 2 / math.fsum(np.square(self.weights))

    def interval(self, measure: str, **settings: Any) -> Intervals:
        """Return ``report[measure].interval(...)``; `settings` are those of `Result.interval`."""
        return self[measure].interval(**settings)

    def scalars(self, prefix: str = "") -> dict[str, float]:
        """Return a flat dictionary of numbers for a logger, such as MLflow, W&B, TensorBoard or Lightning.

        Parameters
        ----------
        prefix : str
            The beginning of each name, as it is: ``"val/"``.

        Returns
        -------
        dict of str to float
            ``{measure}_lower``, ``{measure}_expected`` and ``{measure}_upper``, fractions. In the name of the measure
            ``@`` is written ``_at_``, and any other run of characters but letters, digits, ``.`` and ``-`` is one
            ``_``: ``nDCG(dcg='exp-log2')@10`` becomes ``nDCG_dcg_exp-log2_at_10``. MLflow takes no ``@`` and no
            parentheses. **Undefined:** a value that is NaN is left out, so that a logger has no point there.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> report = evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures="Hit@1")
        >>> report.scalars("val/")
        {'val/Hit_at_1_lower': 0.5, 'val/Hit_at_1_expected': 0.75, 'val/Hit_at_1_upper': 1.0}
        """
        checks.text(prefix, "prefix")
        values = {
            f"{prefix}{scalar_name(name)}_{end}": float(getattr(result, end))
            for name, result in self.items()
            for end in Triple._fields
        }
        return {name: number for name, number in values.items() if not math.isnan(number)}

    def summary(self, digits: int = DIGITS) -> str:
        """Return the numbers to report, in one line, in per cent: see `Result.summary`.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures="mAP, MRR").summary()
        'mAP 87.50 [75.00, 100.00] %, MRR 87.50 [75.00, 100.00] %'
        """
        return ", ".join(self[name].summary(digits) for name in self.measures)

    def by_class(self, n: int | None = None, *, measures: str | Iterable[str] | None = None) -> Breakdown:
        """Return the means over the queries of each class, the worst class first.

        Parameters
        ----------
        n : int, optional
            The number of classes to show; default all.
        measures : str or iterable of str, optional
            Columns, of which the first decides the order: its expected value (the lower one under a tolerance), then
            its lower bound. By default those of the report.

        Returns
        -------
        Breakdown
            A class none of whose queries has a value comes last; classes with equal values are in order of label.

        Raises
        ------
        ValueError
            If the report does not know labels.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> report = evaluate([[0], [1], [-1], [4], [9]], ["a", "a", "b", "b", "c"], distance="euclidean")
        >>> print(report.by_class(measures="mAP, Hit@1"))
        class  queries                mAP (%)              Hit@1 (%)
        b            2   31.25 [29.17, 33.33]                   0.00
        a            2  87.50 [75.00, 100.00]  75.00 [50.00, 100.00]
        c            1                      -                      -
        <BLANKLINE>
        3 of 3 classes, worst mAP first; 1 without a value at the end.
        """
        if self.classes is None:
            raise InvalidValueError("per_class", "needs the labels of the queries: evaluate(profile, labels=...)")
        shown = None if n is None else _number(n)
        return by_class(self._asked(measures), self.classes, np.asarray(self.labels), shown)

    def by_slice(
        self,
        column: QueryLabels,
        *,
        measures: str | Iterable[str] | None = None,
        confidence_level: float = 0.95,
        resample: Average | None = None,
        method: str | None = None,
        n_resamples: int = 9999,
        seed: int = 0,
    ) -> slices.Slices:
        """Return the means for each value of a column of the queries, with intervals, and their mean over the values.

        Parameters
        ----------
        column : (n_query,) or dict
            A value for each query, such as its question type or language; or ``{query_id: value}``.
        measures : str or iterable of str, optional
            By default those of the report.
        confidence_level, resample, method, n_resamples, seed : optional
            As for `Result.interval`. Units stay what they are: queries, or classes with their queries of a slice.

        Returns
        -------
        Slices
            **Ties:** as everywhere, lower, expected and upper. **Undefined:** NaN for a slice without a value.

        Examples
        --------
        >>> from deadheat import evaluate, TieProfile
        >>> hit, miss = [(0, 0, 1, 1)], [(1, 0, 1, 1)]
        >>> report = evaluate(TieProfile.from_groups([hit, hit, hit, miss], n_ranked=[9] * 4), "Hit@1")
        >>> print(report.by_slice(["one hop", "one hop", "two hops", "two hops"]).to_text())
        slice           queries  Hit@1 (%)  Hit@1, interval (%)
        one hop               2     100.00      [34.24, 100.00]
        two hops              2      50.00        [9.45, 90.55]
        mean of slices        4      75.00                    -
        all                   4      75.00       [30.06, 95.44]
        <BLANKLINE>
        2 slices; 95 % intervals, each by itself.
        one hop, two hops: too few units for their intervals and p-values to be trusted.
        """
        settings = {
            "confidence_level": confidence_level, "resample": resample, "method": method, "n_resamples": n_resamples,
            "seed": seed,
        }  # fmt: skip
        return slices.slice_results(self._asked(measures), column, self.profile.query_ids, self.average, settings)

    def worst(self, n: int = 10, *, measures: str | Iterable[str] | None = None) -> Breakdown:
        """Return the queries with the lowest values, the worst first.

        Parameters
        ----------
        n : int
            The number of queries to show.
        measures : str or iterable of str, optional
            Columns, of which the first decides the order: its expected value (the lower one under a tolerance), then
            its lower bound. By default those of the report.

        Returns
        -------
        Breakdown
            With the row of each query, counted from 0 (or its id, from a TREC run), its label where labels are known,
            and its number of relevant items. Queries without a value are left out. Those with equal values are in
            the order in which they came.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> report = evaluate([[0], [1], [-1], [4], [9]], ["a", "a", "b", "b", "c"], distance="euclidean")
        >>> print(report.worst(2, measures="mAP"))
        query  label  relevant               mAP (%)
        3          b         1  29.17 [25.00, 33.33]
        2          b         1                 33.33
        <BLANKLINE>
        2 of 5 queries, worst mAP first; 1 without a value left out.
        """
        return by_query(self._asked(measures), self.__about_queries(), _number(n))

    def by_query(self, *, measures: str | Iterable[str] | None = None) -> Breakdown:
        """Return the values of each query, in the order in which they came; NaN where a measure has no value.

        As a frame or a table of Arrow it has a row for each query, to join with other data about them.

        Parameters
        ----------
        measures : str or iterable of str, optional
            Columns; by default those of the report.

        Returns
        -------
        Breakdown
            With the columns of `worst`.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> report = evaluate([[0], [1], [-1], [4], [9]], ["a", "a", "b", "b", "c"], distance="euclidean")
        >>> list(report.by_query(measures="mAP").columns())
        ['query', 'label', 'relevant', 'mAP_lower', 'mAP_expected', 'mAP_upper']
        >>> report.by_query(measures="mAP").columns()["mAP_lower"]
        [0.5, 1.0, 0.3333333333333333, 0.25, nan]
        """
        return by_query(self._asked(measures), self.__about_queries())

    @property
    def query_names(self) -> NDArray[Any]:
        """The ids of the queries, (n_query,), or their rows from 0; bytes that are not UTF-8 are written as \\x.. ."""
        ids = self.profile.query_ids
        if ids is None:
            return np.arange(self.n_query)
        return np.array([_SURROGATE.sub(_escaped, name) for name in ids], dtype=np.str_)

    def __about_queries(self) -> dict[str, NDArray[Any]]:
        about = {"query": self.query_names}
        if self.labels is not None:
            about["label"] = np.asarray(self.labels)
        about["relevant"] = self.profile.n_relevant
        return about

    def _asked(self, measures: str | Iterable[str] | None) -> list[Result]:
        return [self[name] for name in (self.measures if measures is None else measure_names(measures))]

    def panels(self, *, std: bool = False, interval: bool | Mapping[str, Any] = False) -> list[Panel]:
        """Return one table: a row for each measure, in per cent; a single column of values if no tie affects any."""
        intervals = self.__intervals(interval)
        results = list(self.values())
        kinds = [result.measure.unit for result in results]
        columns = [Column("measure", list(self), "measure"), Column("", results, "fraction", shape="bounds")]
        if checks.flag(std, "std"):
            columns.append(Column("std", [result.std for result in results], "fraction"))
        if intervals:
            level = f"{100 * intervals[0].confidence_level:g} % interval"
            columns.append(Column("", [each.outer for each in intervals], "fraction", level, "interval"))
        columns += [Column(name, [getattr(result, name) for result in results], "count", only="data")
                    for name in ("n_query", "n_undefined")]  # fmt: skip
        for title, values in (("by_id", self.by_id), ("ceiling", self.ceilings)):
            if values:
                columns.append(Column(title, [values[name] for name in self], "fraction"))
        return [Panel(columns, drawn=True, notes=self.__about_intervals(intervals), kinds=kinds)]

    def __intervals(self, wanted: bool | Mapping[str, Any]) -> list[Intervals]:
        """Return the intervals of the measures, each drawn once; none unless they are wanted."""
        settings = wanted if type(wanted) is dict else {}  # a sparse matrix of SciPy can be a dictionary, too
        if settings is not wanted and not checks.flag(wanted, "interval"):
            return []
        unknown = [name for name in settings if name not in _INTERVAL_SETTINGS]
        if unknown:
            known = ", ".join(_INTERVAL_SETTINGS)
            raise InvalidValueError("interval", f"must be True, False or some of {known}, but has {unknown[0]!r}")
        given = tuple(sorted(settings.items()))
        for name in self:
            if (name, given) not in self._intervals:
                self._intervals[name, given] = self[name].interval(**settings)
        return [self._intervals[name, given] for name in self]

    def __about_intervals(self, intervals: list[Intervals]) -> list[str]:
        """Return the method and the units of intervals, by measure where they differ, and their notes."""
        by_text: dict[str, list[str]] = {}
        for name, interval in zip(self, intervals, strict=False):
            by_text.setdefault(interval.about()[0], []).append(name)
        notes = [text if len(by_text) == 1 else f"{', '.join(names)}: {text}" for text, names in by_text.items()]
        if notes and any(map(has_ties, self.values())):
            notes.append("An interval goes from the low end for the lower bound to the high end for the upper bound.")
        return [*notes, *dict.fromkeys(note for interval in intervals for note in interval.notes)]

    def notes(self) -> list[str]:
        """Return sentences to read with the numbers: the queries that count, and the ties."""
        tied = [name for name, result in self.items() if has_ties(result)]
        wanting = [name for name in tied if self.profile.n_cut and math.isnan(self[name].expected)]
        unknown = [name for name in tied if self.profile.n_unjudged is not None and math.isnan(self[name].expected)]
        known = {*tied} if self.profile.bounds_only else {*wanting, *unknown}
        large = [name for name in tied if math.isnan(self[name].expected) and name not in known]
        undefined = {name: self[name].n_undefined for name in self if self[name].n_undefined}
        return [
            self.__about_singletons(),
            *(
                f"{name} is undefined for {_queries(n)} with a relevant item, left out of its mean."
                for name, n in undefined.items()
            ),
            *self._about_medians(tied),
            *self._about_weights(),
            *self.__about_gallery(),
            *self.__about_unreachable(),
            *([self.__about_ties(affected=bool(tied))] if self.ties.mixed_groups or not (wanting or unknown) else []),
            *self.__about_unjudged(unknown),
            *self.__about_coverage(),
            *self.__about_cut(wanting),
            *(f"{name} has no expected value: tie groups are too large for it." for name in large),
            *sentences(self.files),
            *self.remarks,
        ]

    def __about_singletons(self) -> str:
        n, n_class = self.n_singleton, self.n_class
        mean = "" if n_class is None else f" Means are over {count(n_class, 'class', 'classes')}."
        if not n:
            return f"{_queries(self.n_query)}, each with a relevant item.{mean}"
        treated = {
            "skip": "left out of the means",
            "zero": "counted as 0",
            "one": "counted as 100 %",
            "balanced": "counted as 0 in measures of precision and 100 % in those of recall",
        }[self.singletons]
        noun = "a singleton" if n == 1 else "singletons"
        return f"{_queries(self.n_query)}, {n} of them without a relevant item ({noun}) and {treated}.{mean}"

    def _about_medians(self, tied: list[str]) -> list[str]:
        names = [name for name in tied if self[name].measure.median]
        what = "a median over queries" if len(names) == 1 else "medians over queries"
        return [f"{', '.join(names)}: {what}, of the bounds; no expected value where these differ."] if names else []

    def _about_weights(self) -> list[str]:
        """Return a sentence on the weights of the queries; mostly none."""
        if self.weights is None:
            return []
        n, worth = int(np.count_nonzero(self.weights)), self.effective_n_query
        return [f"Means are weighted: {_queries(n)} with a weight above 0, worth {worth:.1f} of equal weight."]

    def __about_gallery(self) -> list[str]:
        """Return sentences on queries that are in the gallery themselves; mostly none."""
        facts = {
            "as an equal row with their label, and ranked against it: exclude= (--exclude) leaves it out":
                self.n_in_gallery,
            "and not ranked against their own row": self.n_excluded,
        }  # fmt: skip
        return [
            f"{n} of {_queries(self.n_query)} {_are(n)} in the gallery themselves, {fact}."
            for fact, n in facts.items()
            if n
        ]

    def __about_unreachable(self) -> list[str]:
        """Return a sentence on relevant items that are not in the gallery; mostly none."""
        n, total = int(self.n_unreachable.sum()), self.profile.n_relevant.sum()
        counts = f"{n} of {total} relevant items, of {_queries(int(np.count_nonzero(self.n_unreachable)))}"
        return [f"{counts}, {_are(n)} not in the gallery: no ranking is above the ceiling."] if n else []

    def __about_ties(self, *, affected: bool) -> str:
        """Return a sentence on the effect of the ties, with the distance and the rule where these are known."""
        where, ties = ", ".join(filter(None, (self.distance, self.tie_rule))), self.ties
        by = f" ({where})" if where else ""
        if self.profile.bounds_only:
            return f"Ties{by}: every relevant item may move by the tolerance, either way; that has no expectation."
        if not ties.mixed_groups:
            return f"No tie affects the result{by}: lower = expected = upper."
        groups = f"{count(ties.mixed_groups, 'group', 'groups')} in {_queries(ties.queries)}"
        size = f"of {ties.largest} items" if ties.mixed_groups == 1 else f"the largest of {ties.largest} items"
        verdict = "" if affected else "; none affects a value shown, so that lower = expected = upper"
        return f"Ties between relevant and irrelevant items{by}: {groups}, {size}{verdict}."

    def __about_cut(self, wanting: list[str]) -> list[str]:
        """Return a sentence on rankings that were cut, and the measures with bounds only because of it; mostly none."""
        n = self.profile.n_cut
        where = f"{_queries(n)} relevant items were not returned or may tie with the last returned"
        if not n:
            return []
        if not wanting:
            return [f"In {where}; this affects no value shown."]
        verb = "has" if len(wanting) == 1 else "have"
        return [
            f"Needs more neighbours: in {where}, so that {', '.join(wanting)} {verb} bounds and no expected value. "
            "A value at k needs k + 1 neighbours, and one more where the query's own row is excluded."
        ]

    def __about_unjudged(self, unknown: list[str]) -> list[str]:
        """Return sentences on unjudged documents that are irrelevant or relevant; mostly none."""
        if self.profile.n_unjudged is None:
            return []
        of_groups, in_all, gain = Unjudged.of(self.profile)
        ranked, n_query, largest = int(of_groups.sum()), int(np.count_nonzero(in_all)), float(gain.max(initial=1.0))
        others = f", and {in_all.sum() - ranked} that only other systems retrieved" if in_all.sum() > ranked else ""
        where = f"{ranked} of {self.profile.n_ranked.sum()} ranked documents, in {_queries(n_query)}"
        graded = self.profile.tied_by_grade is not None or largest != 1
        what = f"irrelevant or relevant{f' with gain {largest:g}' if graded else ''}"
        said = f"{where}, {_are(ranked)} unjudged{others}: each is {what}"
        if not unknown:
            return [f"{said}, which affects no value shown."]
        also = "; the lower bounds hold for smaller gains, too" if graded else ""
        return [
            f"{said}, and bounds are over that and the ties. There is no expected value{also}.",
            "Documents that were not retrieved count as irrelevant.",
        ]

    def __about_coverage(self) -> list[str]:
        """Return a caution where most of the first documents were not judged and these count as irrelevant, or not."""
        low = [name for name in self if parse(name).row.forms.coverage and self[name].lower < _FEW_JUDGED]
        if not low or self.profile.n_unjudged is not None:
            return []
        which = " and ".join(self[name].summary() for name in low)
        return [f"{which}: values depend on unjudged documents; as unknown (--unjudged unknown) they have bounds."]

    def facts(self) -> dict[str, Any]:
        """Return the options, the counts of queries, the files, the remarks and the digest of the profile."""
        return {
            **self._facts_of("distance", "singletons", "average", "n_query", "n_singleton", "n_class"),
            **self._facts_of("n_in_gallery", "n_excluded", "files", "remarks"),
            "ties": {"rule": self.tie_rule, **self.ties._asdict()},
            "profile": self.profile.digest(),
            **({} if self.weights is None else self._facts_of("effective_n_query")),
        }

    def __repr__(self) -> str:
        about = (_queries(self.n_query), self.distance, self.tie_rule, self.source and f"of {self.source}")
        return f"Report({self.summary()}; {', '.join(filter(None, about))})"


def scalar_name(measure: str) -> str:
    """Return the name of a measure for loggers: ``Hit_at_1``, by the rule of `Report.scalars`."""
    return _NOT_IN_SCALARS.sub("_", measure.replace("@", "_at_")).strip("_")


def _queries(n: int) -> str:
    return count(n, "query", "queries")


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _number(n: int) -> int:
    """Return a number of rows to show, checked; measures in its place are refused by name."""
    require_no_measures(n, "n", "an integer")
    return checks.positive_integer(n, "n")
