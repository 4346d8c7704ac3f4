"""Names of measures: all spellings, and one line for each that is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from graded_queries import NAMES

import deadheat as dh
from deadheat.errors import InputError
from deadheat.measures import DEFAULT_MEASURES, listing
from deadheat.measures.names import FAMILIES, parse, parse_all

ALIASES = {
    "mAP": "map MAP AP average_precision mean_average_precision RetrievalMAP",
    "mAP@5": "AP@5 MAP@5 map_cut_5 mAP@05 mean_average_precision_at_5 mAP(over='relevant')@5",
    "mAP(rel=1)@5": "AP(rel=1)@5 AP(rel=01)@5 map(rel=1.0)@5",
    "mAP(rel=0.5)": "AP(rel=0.5) AP(rel=.50) AP(rel=5e-1)",
    "mAP(rel=1e-05)": "AP(rel=0.00001) AP(rel=1E-5)",
    "mAP(rel=9223372036854775807)": "AP(rel=9223372036854775807)",
    "mAP(rel=1e+20)": "AP(rel=1e20)",
    "mAP(over='hits')": "AP(over=hits) map_over_hits",
    "mAP(over='hits',rel=2.5)": "mAP(rel=2.5,over='hits')",
    "mAP(over='hits')@1000": 'map_over_hits@1000 mAP(over="hits")@1000 RetrievalMAP@1000',
    "mAP(over='hits')@2": "retrieval_average_precision@2",
    "mAP(over='hits',rel=2)@10": "AP(rel=2,over='hits')@10 map-over-hits(rel=2)@10 mAP(over='hits',rel=02)@10",
    "mAP(over='possible')@10": "apk@10 apk_10 mapk@10 AP(over='possible')@10 apk(over='possible')@10",
    "mAP(interpolation='trapezoid')@10": "trapezoid-AP@10 AP(interpolation=trapezoid)@10 oxford_mAP@10",
    "Recall(over='possible')@10": "R_cap@10 recall_cap_10 capped_recall_at_10 R(over='possible')@10",
    "Recall(over='possible',rel=3)@10": "R_cap(rel=3)@10",
    "MAP@R": "map@r mean_average_precision_at_r AP@R",
    "R-Precision": "Rprec R-Prec r_precision RPrecision P@R precision_at_r RetrievalRPrecision",
    "P@10": "p@10 Precision@10 precision_at_10 P_10",
    "Recall@3": "R@3 recall_3 recall_at_3 RECALL@3",
    "Hit@1": "Success@1 CMC@1 HitRate@1 hits@1 hit_rate@1 success_1 recall_any@1 Rank-1 rank1 HR@1 accuracy@1",
    "All@5": "all@5 recall_all@5 all_recall@5 full_recall@5 full_support@5",
    "MRR": "RR recip_rank mean_reciprocal_rank reciprocal-rank RetrievalMRR",
    "MRR@10": "RR@10 mrr@10",
    "nDCG": "NDCG ndcg RetrievalNormalizedDCG nDCG(dcg='log2')",
    "nDCG@10": "ndcg_cut_10 NDCG@10 nDCG(dcg='log2')@10 ndcg@10",
    "nDCG(dcg='exp-log2')": 'ndcg_burges nDCG(dcg="exp-log2")',
    "nDCG(dcg='exp-log2')@10": "NDCG(dcg=exp-log2)@10 ndcg_burges@10",
    "F1@7": "f1@7 F1_7 f1-score@7",
    "RBP": "rbp rank_biased_precision RBP(p=0.8) RBP(p='0.8') RBP(p=0.80) RBP(p=.8)",
    "RBP(p=0.5)": "RBP(p=0.50) RBP(p='0.5') RBP(p=5e-1)",
    "RBP(p=0.95,rel=2)@10": "RBP(rel=2,p=0.95)@10",
    "AUC": "auc ROC-AUC AUROC roc_auc",
    "mINP": "minp INP",
    "bpref": "Bpref binary_preference",
    "IPrec@0.1": "IPrec@.1 iprec@0.10 interpolated_precision_at_0.1",
    "IPrec@1": "IPrec@1.0",
    "IPrec(rel=2)@0.5": "IPrec(rel=2)@.5",
    "iprec_at_recall@0.1": "iprec_at_recall_0.10 iprec_at_recall@.1",
    "iprec_at_recall@0": "iprec_at_recall_0.00",
    "11pt_avg": "11pt-avg",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetRelP": "set_relative_P",
    "SetAP": "set_map",
    "SetF": "set_F",
}


@pytest.mark.parametrize(("canonical", "alias"), [(c, a) for c, text in ALIASES.items() for a in [c, *text.split()]])
def test_aliases(canonical: str, alias: str) -> None:
    assert parse(alias).name == canonical
    assert str(parse(alias)) == canonical


def test_no_two_families_share_a_name() -> None:
    spellings = [spelling for row in FAMILIES for spelling in row.spellings]
    assert len(spellings) == len(set(spellings))
    assert all(row.sentence for row in FAMILIES)


def test_the_listing_has_a_row_for_each_family_and_each_choice_but_the_default() -> None:
    rows = listing().splitlines()[2:-2]
    assert len(rows) == 1 + len(FAMILIES) + sum(max(len(row.choices) - 1, 0) + bool(row.median) for row in FAMILIES)
    assert [row.split("  ")[0] for row in rows[:7]] == [
        "name", "mAP, mAP@k", "mAP(over='hits')@k", "mAP(over='possible')@k", "mAP(interpolation='trapezoid')@k",
        "MAP@R", "R-Precision",
    ]  # fmt: skip
    listed = {row.split("  ")[0]: re.split(" {2,}", row)[1:] for row in rows}
    assert listed["Hit@k"] == [
        "Success@k",
        "1 if there is a hit, else 0; metric learning calls it Recall@k. Also CMC@k",
    ]
    assert listed["Recall(over='possible')@k"] == ["R cap@k", "hits / min(k, R)"]
    assert listed["nDCG(dcg='exp-log2')@k"] == ["nDCG burges@k", "the same with gains 2^grade - 1"]
    assert listed["IPrec@r"][0] == "interpolated precision@r"
    assert listed["11pt_avg"] == ["11pt", "mean of iprec_at_recall@0, @0.1, ..., @1"]


def test_names_of_medians_and_of_other_fields() -> None:
    named = ["MdR", "median rank", "median(MR1)", "median( AP(rel=2) )", "Median(nDCG@10)", "mean rank", "mean grade@5"]
    names = ["MdR", "MdR", "MdR", "median(mAP(rel=2))", "median(nDCG@10)", "MnR", "ACG@5"]
    assert [parse(name).name for name in named] == names
    assert [parse(name).name for name in names] == names
    assert parse("median(AP)").at_level(2).name == "median(mAP(rel=2))"
    assert [(parse(name).unit, parse(name).sign) for name in ("MdR", "DCG", "EF@0.01", "NAP")] == [
        ("ranks", -1), ("gain", 1), ("times", 1), ("fraction", 1)
    ]  # fmt: skip
    assert [each.name for each in parse_all("median(AP(rel=2)), MdR P@5")] == ["median(mAP(rel=2))", "MdR", "P@5"]


def test_fields() -> None:
    assert [parse(name).name for name in DEFAULT_MEASURES] == list(DEFAULT_MEASURES)
    measure = parse("nDCG(dcg='exp-log2')@10")
    assert (measure.family, measure.cutoff, measure.kind, measure.choice) == ("nDCG", 10, "precision", "dcg='exp-log2'")
    assert {name for name in NAMES if parse(name).kind == "recall"} == {
        "Recall@1", "Recall@4", "Hit@1", "Hit@3", "Hit@20", "All@1", "All@3", "All@5", "All@20", "SetR",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC@10", "unknown measure 'nDGC@10'; did you mean 'nDCG@10'?"),
        ("MAPP", "unknown measure 'MAPP'; did you mean 'mAP'?"),
        ("normalized@10", "unknown measure 'normalized@10'; the measures are mAP"),
        ("AMR", "'AMR' is adjusted for chance: dh.link_prediction has it; or ask for MnR"),
        ("median(MdR)", "'median(MdR)' must be the median of a measure, but 'MdR' is one"),
        ("precison", "unknown measure 'precison'; did you mean 'P@10'?"),
        ("", "unknown measure ''; the measures are mAP[@k], MAP@R, R-Precision, P@k, Recall@k"),
        ("xyzzy", "unknown measure 'xyzzy'; the measures are mAP"),
        ("P", "P needs a cutoff, as in 'P@10', but got 'P'"),
        ("Recall", "Recall needs a cutoff, as in 'Recall@10'"),
        ("AUC@5", "AUC takes no cutoff, but got 'AUC@5'"),
        ("P@0", "the cutoff of P@k must be an integer from 1 to 2**53, but got '0' in 'P@0'"),
        ("Hit@-1", "but got '-1' in 'Hit@-1'"),
        ("mAP@2.5", "but got '2.5' in 'mAP@2.5'"),
        ("mAP@", "but got '' in 'mAP@'"),
        ("nDCG@ten", "but got 'ten' in 'nDCG@ten'"),
        ("nDCG@R", "but got 'R' in 'nDCG@R'"),
        ("P@1_0", "but got '1_0'"),
        ("P@٣", "but got '٣'"),
        ("P@99999999999999999999999", "must be an integer from 1 to 2**53"),
        ("nDCG(dcg='log10')@10", "must be dcg='log2' or dcg='exp-log2'"),
        ("P(dcg='log2')@10", "P takes rel=2, rel=0.5, ... as its parameter, the least gain that is relevant, but got"),
        ("nDCG_burges(dcg='log2')", "the parameter of nDCG must be dcg='log2' or dcg='exp-log2', but got"),
        (
            "mAP(over='none')@10",
            "mAP takes over='relevant', over='hits', over='possible' or interpolation='trapezoid', and rel=2, rel=0.5, "
            "..., the least gain that is relevant, as its parameters, but got",
        ),
        ("mAP(over='hits',over='possible')@10", "mAP takes over='relevant'"),
        ("mAP(over='hits',interpolation='trapezoid')@5", "mAP takes over='relevant'"),
        ("mAP(rel=2,rel=3)", "mAP takes over='relevant'"),
        ("mAP(rel=0)", "mAP takes over='relevant'"),
        ("mAP(rel=9223372036854775808)", "mAP takes over='relevant'"),
        ("mAP()", "mAP takes over='relevant'"),
        ("apk(over='relevant')@10", "mAP takes over='relevant'"),
        ("Recall(over='hits')@10", "Recall takes over='relevant' or over='possible', and rel=2"),
        ("MAP@R(over='hits')", "MAP@R takes rel=2, rel=0.5, ... as its parameter"),
        ("mapp_over_hits@5", "unknown measure 'mapp_over_hits@5'; did you mean \"mAP(over='hits')@5\"?"),
        ("Recall(over='possible')", "Recall needs a cutoff"),
        ("IPrec", "IPrec needs a recall from 0 to 1, as in 'IPrec@0.1', with 6 decimals at most, but got 'IPrec'"),
        ("IPrec@1.01", "but got 'IPrec@1.01'"),
        ("IPrec@-0.1", "but got 'IPrec@-0.1'"),
        ("IPrec@nan", "but got 'IPrec@nan'"),
        ("IPerc@.1", "did you mean 'IPrec@0.1'?"),
        ("SetP@5", "SetP takes no cutoff"),
        ("RetrievalFallOut@5", "'RetrievalFallOut@5' is not computed; ask for P and Recall at the same cutoff"),
        *(
            (f"P(rel={odd})@10", "P takes rel=2, rel=0.5")
            for odd in ("0", "0.0", "-1", "", ".", "e1", "1e", "nan", "inf", "1e101", "1e-101", "1_0", "0x1", "'2'")
        ),
        ("infAP", "'infAP' is not computed, since it has no closed form over the orders of ties; ask for AP"),
        ("set_F.0.5", "'set_F.0.5' has a parameter as trec_eval writes it: deadheat run --trec-eval takes it"),
        ("ndcg.1=3", "has a parameter as trec_eval writes it"),
        ("Rndcg", "'Rndcg' is a line of trec_eval's output and no measure of a report: deadheat run --trec-eval"),
        ("Rprec_mult_0.20", "deadheat run --trec-eval prints it"),
        ("RBP(p=0.7)", "RBP takes p=0.8, p=0.5 or p=0.95, and rel=2"),
        ("RBP(p=nan)", "RBP takes p=0.8, p=0.5 or p=0.95, and rel=2"),
        ("nDCG(rel=2)@10", "the parameter of nDCG must be dcg='log2' or dcg='exp-log2', but got"),
    ],
)
def test_names_that_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=r"\A[^\n]*\Z") as caught:
        parse(name)
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert caught.value.argument == "measures"


@pytest.mark.parametrize("name", ["mAP", "Hit@1", "nDCG(dcg='exp-log2')@10", "R-Precision", "IPrec@0.1", "AP(rel=2)",
                                  "mAP(over='hits',rel=2)@10"])  # fmt: skip
def test_names_of_bounds_say_where_the_bounds_are(name: str) -> None:
    base, at, cutoff = name.partition("@")
    sides = {"lower": ("-", " -", "\u2212", "\u207b", "_lower", "-lower"), "upper": ("+", "\u207a", " upper"),
             "expected": ("_expected",)}  # fmt: skip
    for side, ends in sides.items():
        for end in ends:
            for written in (base + end + at + cutoff, base + at + cutoff + end):
                with pytest.raises(
                    InputError, match=rf"of {re.escape(repr(name))}: .* read \.{side} \(in tables"
                ) as caught:
                    parse(written)
                assert str(caught.value).startswith(f"{written!r} is the ")
                with pytest.raises(InputError, match=rf"read \.{side}"):
                    dh.evaluate(dh.TieProfile.from_groups([[(0, 0, 2, 1)]], n_ranked=[2]), "mAP")[written]
    assert parse("P-10").name == "P@10"


def test_names_come_with_commas_or_one_by_one_and_each_once() -> None:
    for names in ("mAP, Hit@1,AP , success@1", ["mAP", "Hit@1", "AP", "success@1"], iter(("mAP", "Hit@1"))):
        assert [measure.name for measure in parse_all(names)] == ["mAP", "Hit@1"]
    assert [measure.name for measure in parse_all(None)] == list(DEFAULT_MEASURES)
    assert [measure.name for measure in parse_all("nDCG(dcg='exp-log2')@10,P@1")] == ["nDCG(dcg='exp-log2')@10", "P@1"]
    both = ["mAP(over='hits',rel=2)@10", "P@1", "mAP(over='hits')@5"]
    for names in ("mAP(over='hits', rel=2)@10 P@1 map over hits@5", "mAP(rel=2,over='hits')@10,P@1,map over hits@5"):
        assert [measure.name for measure in parse_all(names.replace("map over hits", "map_over_hits"))] == both
    assert [measure.name for measure in parse_all("map over hits@5, AP(over='hits', rel=2)@10")] == [both[2], both[0]]


def test_one_cutoff_for_all_names() -> None:
    exponential = "nDCG(dcg='exp-log2')"
    for names in (f"AP, hit rate, {exponential}", f"AP hits {exponential}", ["AP", "HR", "NDCG(dcg=exp-log2)"]):
        assert [measure.name for measure in parse_all(names, top_k=7)] == ["mAP@7", "Hit@7", f"{exponential}@7"]
    for names, top_k, message in (
        ("AP, P@5", 7, "top_k must be left out where a name has a cutoff, but is 7 with 'P@5'"),
        ("AUC", 7, "AUC takes no cutoff, but got 'AUC@7'"),
        ("AP", 0, "top_k must be at least 1, but is 0"),
    ):
        with pytest.raises(InputError, match=message):
            parse_all(names, top_k)


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ([], ValueError, "measures must name at least one measure, but got none"),
        ("", ValueError, "unknown measure ''; the measures are mAP"),
        ("mAP,", ValueError, "unknown measure ''"),
        ("mAP, normalized recall", ValueError, "unknown measure 'normalized recall'"),
        ("mAP nDGC@10", ValueError, "unknown measure 'nDGC@10'; did you mean 'nDCG@10'?"),
        (5, TypeError, "measures must be names, such as 'mAP,Hit@1' or a list of them, but is 5"),
        (["mAP", 5], TypeError, "a measure must be given by its name, such as 'mAP' or 'P@10', but got 5"),
        ([["mAP"]], TypeError, "a measure must be given by its name"),
        ([b"mAP"], TypeError, "a measure must be given by its name, such as 'mAP' or 'P@10', but got b'mAP'"),
    ],
)
def test_lists_of_names_that_are_refused(names: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        parse_all(names)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, InputError)


def test_a_level_of_relevance_is_taken_by_measures_that_have_none_of_their_own() -> None:
    levels = {name: parse(name).at_level(3).name for name in ("mAP@5", "mAP(rel=2)@5", "nDCG@10", "MRR")}
    assert levels == {
        "mAP@5": "mAP(rel=3)@5", "mAP(rel=2)@5": "mAP(rel=2)@5", "nDCG@10": "nDCG@10", "MRR": "MRR(rel=3)"
    }  # fmt: skip
    assert (parse("mAP").at_level(None), parse("mAP").at_level(0.5).name) == (parse("mAP"), "mAP(rel=0.5)")
    assert parse("R_cap@5").at_level(2).name == "Recall(over='possible',rel=2)@5"
    assert [measure.name for measure in parse_all("mAP(rel=1) P@5", rel=2)] == ["mAP(rel=1)", "P(rel=2)@5"]
