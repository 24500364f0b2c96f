"""Sources as people type them: "kannst du mir helfen diesen satz zu uebersetzen ?".

Collections of sentences are spelled well, so a model that sees nothing else is lost without the
full stop.  A fault below is something that many people do; `spoil` makes one to three of them.  The
target of a spoiled source is the one of the clean source: the model learns to ignore the fault.

A single word keeps its full stop: "merci" is to become "thanks", as word lists teach it, and not
"Thanks.", the target of "Merci.".
"""

import random
import re
import unicodedata

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe",
                          "Ü": "Ue"})
_STRAIGHT = str.maketrans("‘’“”„«»", "''\"\"\"\"\"")


def _plain_letters(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.translate(_UMLAUTS))
    return "".join(c for c in letters if not unicodedata.combining(c))


def _without_end(text: str) -> str:
    return text.strip(" .!?…¡¿\u00a0\u202f")


def _without_commas(text: str) -> str:
    return re.sub(r",(?= )", "", text)


def _other_space_before_mark(text: str) -> str:
    """French has a space there, the others have none."""
    closed = re.sub(r"\s+([?!])", r"\1", text)
    return closed if closed != text else re.sub(r"(?<=\w)([?!])", r" \1", text)


def _other_quotes(text: str) -> str:
    straight = text.translate(_STRAIGHT)
    if straight != text:
        return straight
    return re.sub(r'"([^"]*)"', "“\\1”", text).replace("'", "’")


# In this order: capitals come last, since "ÜBER" becomes "UEBER" and not "UeBER".
_FAULTS = (_other_space_before_mark, _other_quotes, _plain_letters, _without_commas, _without_end,
           str.lower, str.upper)


def spoil(text: str, source: random.Random) -> str:
    """The text with one to three faults; the text itself if it leaves no room for any."""
    single = len(re.findall(r"\w+", text)) < 2
    possible = [fault for fault in _FAULTS
                if not (single and fault is _without_end) and fault(text) != text]
    chosen = source.sample(possible, min(len(possible), source.choice((1, 1, 2, 3))))
    for fault in filter(chosen.__contains__, _FAULTS):
        text = fault(text)
    return text
