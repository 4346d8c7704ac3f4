"""Text of others (names of files, what is in files, labels) as a terminal may show it: escaped, and not at any length.

Whatever quotes such text goes through `printable`: the errors and warnings of deadheat, its tables, and the command.
"""

from __future__ import annotations

import re

MOST = 1000  # characters of one part of a message
_TAIL = 200  # of these, from the end of the part, where the rule mostly is
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def printable(text: str, most: int | None = None) -> str:
    r"""The text with an escape for every character that is not printable, and without its middle if it is long.

    Not printable are control characters, those that turn the direction of writing or have no width, surrogates, line
    breaks, and blanks other than the space: `str.isprintable`. Letters of any script stay.

    Parameters
    ----------
    most : int, optional
        How many characters are shown, before they are escaped; default, all.

    Examples
    --------
    >>> print(printable("Zoë \x1b[2J \u202e日本"))
    Zoë \x1b[2J \u202e日本
    >>> printable(1000 * "a" + "b", most=10)
    'aaaaaaaa...ab'
    """
    if most is not None and len(text) > most:
        tail = min(_TAIL, most // 5)
        text = f"{text[: most - tail]}...{text[-tail:]}"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def reason(error: BaseException, most: int = 200) -> str:
    """What another library says of an error: in a line, without addresses in memory, and short.

    Examples
    --------
    >>> reason(ValueError("bad\\n  <file object at 0x7f00>"))
    'bad <file object>'
    """
    return printable(_ADDRESS.sub("", " ".join(str(error).split())), most)
