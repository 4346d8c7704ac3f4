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

import deadheat as dh
from deadheat.analyses.words import edit_distances, phoc

# ---------------------------------------------------------------------------------------------------------------------
# oracles


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


# ---------------------------------------------------------------------------------------------------------------------
# PHOC


def letters_of(code, levels, alphabet):
    """The letters of each region, as a person would write them."""
    rows = code.reshape(sum(levels), len(alphabet))
    return ["".join(alphabet[i] for i in np.flatnonzero(row)) for row in rows]


def test_phoc_by_hand():
    """Six letters in two and in three regions; in four, the second letter lies half in each of the first two."""
    alphabet = "bdenoyz"
    code = phoc(["beyond"], levels=[2, 3, 4], alphabet=alphabet)[0]
    halves, thirds, quarters = ["bey", "dno"], ["be", "oy", "dn"], ["be", "ey", "no", "dn"]
    assert letters_of(code, [2, 3, 4], alphabet) == halves + thirds + quarters


def test_a_letter_half_in_each_region_is_in_both():
    """In float64 the middle third of a word comes out a little less than half in the second region."""
    assert letters_of(phoc(["cat"], levels=[2], alphabet="act")[0], [2], "act") == ["ac", "at"]
    begin, end = 1 / 3, 2 / 3
    assert (end - 0.5) / (end - begin) < 0.5  # what integers are for


@settings(deadline=None, max_examples=60)
@given(
    words=st.lists(st.text("abcx", max_size=25), min_size=1, max_size=6),
    levels=st.lists(st.integers(1, 7), min_size=1, max_size=3),
)
def test_phoc_is_the_definition(words, levels):
    codes = phoc(words, levels=levels, alphabet="abc")
    assert codes.dtype == np.bool_
    assert_array_equal(codes, [slow_phoc(word, levels, "abc") for word in words])


def test_phoc_of_every_length_with_the_defaults():
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = [(alphabet * 2)[:length] for length in range(40)]
    codes = phoc(words)
    assert codes.shape == (40, 504)
    assert_array_equal(codes, [slow_phoc(word, (2, 3, 4, 5), alphabet) for word in words])
    assert not codes[0].any()  # the empty word


def test_other_characters_take_their_place():
    assert letters_of(phoc(["a-b"], levels=[3], alphabet="ab")[0], [3], "ab") == ["a", "", "b"]
    assert_array_equal(phoc(["CaT"]), phoc(["cat"]))
    assert_array_equal(phoc(["Straße"]), phoc(["strasse"]))
    assert_array_equal(phoc(np.array(["cat", "cart"])), phoc(["cat", "cart"]))


def test_bits_are_as_far_apart_in_three_distances():
    words = ["walk", "walks", "walked", "talk", "talks", "stalk", "wall", "walls"]
    labels = ["walk", "walk", "walk", "talk", "talk", "stalk", "wall", "wall"]
    codes = phoc(words)
    profiles = [dh.profile(codes, labels, distance=d) for d in ("hamming", "euclidean", "cityblock")]
    assert profiles[0] == profiles[1] == profiles[2]
    assert profiles[0] != dh.profile(codes, labels, distance="cosine")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"words": "cat"}, TypeError, "words must be a sequence of words, but is one: 'cat'"),
        ({"words": 3}, TypeError, "words must be a sequence of words, but is 3"),
        ({"words": []}, ValueError, "words must hold at least one word, but is empty"),
        ({"words": ["a", b"b"]}, TypeError, "words must hold strings alone, but entry 1 is b'b'"),
        ({"levels": 2}, TypeError, "levels must be a sequence of integers, but is 2"),
        ({"levels": []}, ValueError, "levels must hold at least one level, but is empty"),
        ({"levels": [2, 0]}, ValueError, "each of levels must be at least 1, but is 0"),
        ({"levels": [2.5]}, TypeError, "each of levels must be an integer, but is 2.5"),
        ({"alphabet": ""}, ValueError, "alphabet must hold at least one character, but is empty"),
        ({"alphabet": 3}, TypeError, "alphabet must be a sequence of characters, but is 3"),
        ({"alphabet": ["ab"]}, ValueError, "alphabet must hold single characters, but holds 'ab'"),
        ({"alphabet": "abA"}, ValueError, "alphabet must hold case-folded characters, but holds 'A'"),
        ({"alphabet": "aba"}, ValueError, "alphabet must hold each character once, but holds 'a' twice"),
    ],
)
def test_phoc_refuses(arguments, error, message):
    with pytest.raises(error) as caught:
        phoc(**{"words": ["cat"], **arguments})
    assert str(caught.value) == message


# ---------------------------------------------------------------------------------------------------------------------
# edit distances


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
        (200, "osa", np.uint8),
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


def test_quotients_of_small_integers_tie_exactly_where_they_are_equal():
    """Every quotient up to 1 with denominators up to 150: as many different floats as fractions, in the same order."""
    pairs = [(a, b) for b in range(1, 151) for a in range(b + 1)]
    floats = np.array([np.uint8(a) / np.int64(b) for a, b in pairs])
    fractions = [Fraction(a, b) for a, b in pairs]
    rank = {fraction: place for place, fraction in enumerate(sorted(set(fractions)))}
    assert_array_equal(np.unique(floats, return_inverse=True)[1], [rank[fraction] for fraction in fractions])


def test_distances_go_into_a_profile():
    """By hand: from "form", "forms" is at 1 and both "from" and "firms" at 2."""
    words, labels = ["form", "forms", "from", "firms"], np.array([0, 0, 1, 0])
    relevant = labels[:, None] == labels
    profile = dh.profile_scores(edit_distances(words), relevant, order="ascending", junk=np.eye(4, dtype=bool))
    assert_array_equal(profile[0].closer, [0, 1])
    assert_array_equal(profile[0].tied, [1, 2])
    assert_array_equal(profile[0].tied_relevant, [1, 1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"queries": "cat"}, TypeError, "queries must be a sequence of words, but is one: 'cat'"),
        ({"gallery": []}, ValueError, "gallery must hold at least one word, but is empty"),
        ({"gallery": ["a", None]}, TypeError, "gallery must hold strings alone, but entry 1 is None"),
        ({"kind": "levenstein"}, ValueError, "did you mean 'levenshtein'?"),
        ({"normalized": 1}, TypeError, "normalized must be True or False, but is 1"),
        ({"threads": 0}, ValueError, "threads must be at least 1, but is 0"),
    ],
)
def test_edit_distances_refuse(arguments, error, message):
    with pytest.raises(error) as caught:
        edit_distances(**{"queries": ["cat"], **arguments})
    assert message in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(ModuleNotFoundError) as caught:
        edit_distances(["cat"])
    assert str(caught.value) == "an edit distance needs rapidfuzz: pip install 'deadheat[words]'"
