"""PHOC codes against the definition in fractions, and edit distances against a search through the edits themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from reproduce.edit_distances import edit_distances, phoc


def slow_phoc(word, levels, alphabet):
    """Almazán's rule as it is written: overlap over the width of the character, at least one half."""
    bits, width = [], Fraction(1, max(1, len(word)))
    for level, region in ((cuts, at) for cuts in levels for at in range(cuts)):
        ends = [(i * width, (i + 1) * width) for i in range(len(word))]
        shared = [min(end, Fraction(region + 1, level)) - max(begin, Fraction(region, level)) for begin, end in ends]
        here = {character for character, overlap in zip(word, shared, strict=True) if 2 * overlap >= width}
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
    result, front = {word: 0}, [word]
    for old in front:
        for new in neighbours(old, kind, alphabet):
            if len(new) <= longest and new not in result:
                result[new] = result[old] + 1
                front.append(new)
    return result


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
    for words, same in ((["CaT"], ["cat"]), (["Straße"], ["strasse"]), (np.array(["cat", "cart"]), ["cat", "cart"])):
        assert_array_equal(phoc(words), phoc(same))


KINDS = ("levenshtein", "osa", "damerau", "indel")
WORDS = st.lists(st.text("abé", max_size=6), min_size=1, max_size=4)
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
@given(left=WORDS, right=WORDS, kind=st.sampled_from(KINDS))
def test_queries_are_rows_and_swapping_sides_transposes(left, right, kind):
    for normalized in (False, True):
        there = edit_distances(left, right, kind=kind, normalized=normalized, threads=1)
        assert there.shape == (len(left), len(right))
        assert_array_equal(there, edit_distances(right, left, kind=kind, normalized=normalized, threads=2).T)
    assert_array_equal(edit_distances(left, kind=kind), edit_distances(left, left, kind=kind))


@pytest.mark.parametrize(
    ("length", "kind", "dtype"),
    [(255, "levenshtein", np.uint8), (256, "levenshtein", np.uint16), (127, "indel", np.uint8),
     (128, "indel", np.uint16), (70000, "levenshtein", np.uint32)],
)  # fmt: skip
def test_the_type_holds_the_greatest_distance(length, kind, dtype):
    distances = edit_distances(["a" * length], ["b" * length], kind=kind)
    assert (distances.dtype, distances.item()) == (dtype, length * (2 if kind == "indel" else 1))


@pytest.mark.parametrize("kind", KINDS)
def test_normalized_is_the_nearest_float_to_the_quotient(kind):
    words = ["", "a", "form", "from", "forms", "reform", "reformation", "inform", "performances"]
    distances, result = edit_distances(words, kind=kind), edit_distances(words, kind=kind, normalized=True)
    assert result.dtype == np.float64
    for i, j in np.ndindex(result.shape):
        greatest = (sum if kind == "indel" else max)([len(words[i]), len(words[j])])
        assert result[i, j] == (float(Fraction(int(distances[i, j]), greatest)) if greatest else 0)


REFUSED = [  # a function, what it is given, and for each change of that the words of the message
    (
        phoc,
        {"words": ["cat"]},
        [
            ({"words": "cat"}, "words must be a sequence of words, but is one: 'cat'", TypeError),
            ({"words": 3}, "words must be a sequence of words, but is 3", TypeError),
            ({"words": []}, "words must hold at least one word, but is empty"),
            ({"words": ["a", b"b"]}, "words must hold strings alone, but entry 1 is b'b'", TypeError),
            ({"levels": 2}, "levels must be a sequence of integers, but is 2", TypeError),
            ({"levels": [2, 0]}, "each of levels must be at least 1, but is 0"),
            ({"alphabet": ["ab"]}, "alphabet must hold single characters, but holds 'ab'"),
            ({"alphabet": "abA"}, "alphabet must hold case-folded characters, but holds 'A'"),
            ({"alphabet": "aba"}, "alphabet must hold each character once, but holds 'a' twice"),
        ],
    ),
    (
        edit_distances,
        {"queries": ["cat"]},
        [
            ({"queries": "cat"}, "queries must be a sequence of words, but is one: 'cat'", TypeError),
            ({"gallery": ["a", None]}, "gallery must hold strings alone, but entry 1 is None", TypeError),
            ({"kind": "levenstein"}, "did you mean 'levenshtein'?"),
            ({"normalized": 1}, "normalized must be True or False, but is 1", TypeError),
        ],
    ),
]


@pytest.mark.parametrize(
    ("function", "given", "change", "message", "kind"),
    [
        (function, given, *case, *([ValueError] if len(case) < 3 else []))
        for function, given, cases in REFUSED
        for case in cases
    ],
)
def test_wrong_words_are_refused(function, given, change, message, kind):
    with pytest.raises(kind) as caught:
        function(**{**given, **change})
    assert message in str(caught.value)
