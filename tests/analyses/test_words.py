"""PHOC codes against the definition in fractions, and edit distances against a search through the edits themselves."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from deadheat.analyses.words import edit_distances, phoc


def slow_phoc(word, levels, alphabet):
    """Almazán's rule as it is written: overlap over the width of the character, at least one half."""
    bits = []
    for level in levels:
        for region in range(level):
            here = set()
            for i, character in enumerate(word):
                begin, end = Fraction(i, len(word)), Fraction(i + 1, len(word))
                shared = min(end, Fraction(region + 1, level)) - max(begin, Fraction(region, level))
                if shared / (end - begin) >= Fraction(1, 2):
                    here.add(character)
            bits += [character in here for character in alphabet]
    return bits


def neighbours(word, kind, alphabet):
    """All words that are one edit away."""
    places = range(len(word) + 1)
    yield from (word[:i] + new + word[i:] for i in places for new in alphabet)
    yield from (word[:i] + word[i + 1 :] for i in range(len(word)))
    if kind != "indel":
        yield from (word[:i] + new + word[i + 1 :] for i in range(len(word)) for new in alphabet)
    if kind == "damerau":
        yield from (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1))


def distances_from(word, kind, alphabet, longest):
    """Breadth first through all words up to a length: the least number of edits, by what an edit is."""
    found, front = {word: 0}, [word]
    while front:
        front = [
            new
            for old in front
            for new in neighbours(old, kind, alphabet)
            if len(new) <= longest and new not in found and found.setdefault(new, found[old] + 1)
        ]
    return found


def osa(left, right):
    """Optimal string alignment by its recurrence, from the ends of the words."""
    if not left or not right:
        return len(left) + len(right)
    best = min(
        osa(left[:-1], right) + 1, osa(left, right[:-1]) + 1, osa(left[:-1], right[:-1]) + (left[-1] != right[-1])
    )
    if len(left) > 1 and len(right) > 1 and left[-1] == right[-2] and left[-2] == right[-1]:
        best = min(best, osa(left[:-2], right[:-2]) + 1)
    return best


@settings(deadline=None, max_examples=60)
@given(
    words=st.lists(st.text("abcx", max_size=25), min_size=1, max_size=6),
    levels=st.lists(st.integers(1, 7), min_size=1, max_size=3),
)
def test_phoc_is_the_definition(words, levels):
    codes = phoc(words, levels=levels, alphabet="abc")
    assert codes.dtype == np.bool_
    assert_array_equal(codes, [slow_phoc(word, levels, "abc") for word in words])


def test_other_characters_take_their_place():
    assert phoc(["a-b"], levels=[3], alphabet="ab").astype(int).tolist() == [[1, 0, 0, 0, 0, 1]]
    assert_array_equal(phoc(["CaT"]), phoc(["cat"]))
    assert_array_equal(phoc(["Straße"]), phoc(["strasse"]))
    assert_array_equal(phoc(np.array(["cat", "cart"])), phoc(["cat", "cart"]))


SHORT = ["".join(letters) for length in range(4) for letters in product("ab", repeat=length)]


@pytest.mark.parametrize("kind", ["levenshtein", "damerau", "indel"])
def test_edit_distances_are_the_fewest_edits(kind):
    """On the way a word can grow by one letter at most where that pays, and to both lengths for indel."""
    expected = [[distances_from(left, kind, "ab", 4)[right] for right in SHORT] for left in SHORT]
    assert_array_equal(edit_distances(SHORT, kind=kind), expected)


def test_osa_is_its_recurrence_and_not_damerau():
    words = [*SHORT, "ca", "abc", "acb", "bca"]
    assert_array_equal(edit_distances(words, kind="osa"), [[osa(left, right) for right in words] for left in words])
    assert edit_distances(["ca"], ["abc"], kind="osa").item() == 3  # what is swapped is not edited again
    assert edit_distances(["ca"], ["abc"], kind="damerau").item() == 2  # ca, ac, abc


@settings(deadline=None, max_examples=40)
@given(
    left=st.lists(st.text("abé", max_size=6), min_size=1, max_size=4),
    right=st.lists(st.text("abé", max_size=6), min_size=1, max_size=4),
)
def test_queries_are_rows_and_swapping_sides_transposes(left, right):
    for kind in ("levenshtein", "osa", "damerau", "indel"):
        for normalized in (False, True):
            there = edit_distances(left, right, kind=kind, normalized=normalized, threads=1)
            assert there.shape == (len(left), len(right))
            assert_array_equal(there, edit_distances(right, left, kind=kind, normalized=normalized, threads=2).T)
    assert_array_equal(edit_distances(left), edit_distances(left, left))


@pytest.mark.parametrize(
    ("length", "kind", "dtype"),
    [
        (255, "levenshtein", np.uint8),
        (256, "levenshtein", np.uint16),
        (127, "indel", np.uint8),
        (128, "indel", np.uint16),
        (70000, "levenshtein", np.uint32),
    ],
)
def test_the_type_holds_the_greatest_distance(length, kind, dtype):
    distances = edit_distances(["a" * length], ["b" * length], kind=kind)
    assert distances.dtype == dtype
    assert distances.item() == length * (2 if kind == "indel" else 1)


def test_normalized_is_the_nearest_float_to_the_quotient():
    words = ["", "a", "form", "from", "forms", "reform", "reformation", "inform", "performances"]
    for kind in ("levenshtein", "osa", "damerau", "indel"):
        distances = edit_distances(words, kind=kind)
        found = edit_distances(words, kind=kind, normalized=True)
        assert found.dtype == np.float64
        for i, j in np.ndindex(found.shape):
            pair = len(words[i]), len(words[j])
            greatest = sum(pair) if kind == "indel" else max(pair)
            quotient = Fraction(int(distances[i, j]), greatest) if greatest else Fraction(0)
            assert found[i, j] == float(quotient)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(ModuleNotFoundError) as caught:
        edit_distances(["cat"])
    assert str(caught.value) == "an edit distance needs rapidfuzz: pip install 'deadheat[words]'"
