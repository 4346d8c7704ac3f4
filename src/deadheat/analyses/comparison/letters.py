"""Letters for systems, and the raised ones that say of a value which systems it is significantly ahead of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

_PLAIN = "abcdefghijklmnoprstuvwxyz"  # Unicode has no raised q that fonts know
_RAISED = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
_UP, _DOWN = str.maketrans(_PLAIN, _RAISED), str.maketrans(_RAISED, _PLAIN)
_RAISED_TEXT = re.compile(f"[{_RAISED}]+(?:,[{_RAISED}]+)*")


def letters(n: int) -> list[str]:
    """A letter for each of n systems; where there are too many for that, words of letters, all of one length.

    Examples
    --------
    >>> letters(3), letters(26)[24:]
    (['a', 'b', 'c'], ['az', 'ba'])
    """
    length = next(length for length in itertools.count(1) if len(_PLAIN) ** length >= n)
    return ["".join(word) for word in itertools.islice(itertools.product(_PLAIN, repeat=length), n)]


def raised(words: Iterable[str]) -> str:
    """Letters raised, with commas between words of several.

    Examples
    --------
    >>> raised(["b", "c"]), raised(["ab", "ac"])
    ('ᵇᶜ', 'ᵃᵇ,ᵃᶜ')
    """
    listed = list(words)
    return ("," if any(len(word) > 1 for word in listed) else "").join(listed).translate(_UP)


def for_latex(text: str) -> str:
    """Text whose raised letters are LaTeX's, which every engine can set.

    Examples
    --------
    >>> print(for_latex("0.50ᵇᶜ"))
    0.50\\textsuperscript{bc}
    """
    return _RAISED_TEXT.sub(lambda found: rf"\textsuperscript{{{found[0].translate(_DOWN)}}}", text)
