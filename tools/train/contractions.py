"""English without its contractions: "I'm" becomes "I am", "don't" becomes "do not".

A model writes as its training text does.  Translated sentences that people collect are mostly
spoken English; a model for documents and software should write out its words.  Rewriting the
targets of the training pairs is enough for that.  Only what has one reading is rewritten: not "he's",
which may be "he is", "he has" or the genitive, and not "he'd".
"""

import re

ENGLISH = ("en", "eng")

_ENDINGS = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "n't": " not"}
_IRREGULAR = {"can't": "cannot", "won't": "will not", "shan't": "shall not", "let's": "let us"}
_VERBS = {"ca": "can", "wo": "will", "sha": "shall"}
_WORD = re.compile(r"\b[A-Za-z]+['’][a-z]+\b")
# In "Don't you know?" the "not" comes after the pronoun.  In "Doesn't Tom know?" it would come after
# the subject, wherever that ends: such a word is left as it is.
_BEFORE_PRONOUN = re.compile(r"\b([A-Za-z]+)n['’]t (I|you|he|she|it|we|they|this|that|there)\b")
_BEGINS_QUESTION = re.compile(
    r"(^|[.!?\"“«—-] ?|\b([Ww]hy|[Ww]hat|[Ww]ho|[Hh]ow|[Ww]here|[Ww]hen) )$")


def _asked(match: re.Match[str]) -> str:
    verb = _VERBS.get(match[1].lower(), match[1])
    if verb.lower() == "ai":
        return match[0]
    verb = verb.capitalize() if match[1][0].isupper() else verb
    return f"{verb} {match[2]} not"


def _written_out(match: re.Match[str]) -> str:
    word = match[0].replace("’", "'")
    begins = _BEGINS_QUESTION.search(match.string, 0, match.start())
    if word.lower() == "ain't" or (word.endswith("n't") and word != "Don't" and begins):
        return match[0]
    if irregular := _IRREGULAR.get(word.lower()):
        return irregular.capitalize() if word[0].isupper() else irregular
    for ending, full in _ENDINGS.items():
        if word.endswith(ending) and word != ending:
            return word.removesuffix(ending) + full
    return match[0]


def write_out(text: str) -> str:
    """The text with its contractions written out."""
    return _WORD.sub(_written_out, _BEFORE_PRONOUN.sub(_asked, text))
