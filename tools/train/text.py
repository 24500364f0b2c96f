"""Parallel text, and the pairs that are held out from training.

A pair is (pivot, other), two sentences with the same meaning.  The pivot is the first language of
every file (for example English), so a held-out pivot sentence can be removed from all files.
"""

import dataclasses
import hashlib
import lzma
import os
import re
from collections.abc import Iterable

Pair = tuple[str, str]


class InputError(Exception):
    """A problem with a file, a flag or a run."""


@dataclasses.dataclass(frozen=True)
class ParallelText:
    """One file: its languages, such as ("eng", "deu"), and its pairs in that order."""

    languages: tuple[str, str]
    path: str
    pairs: list[Pair]
    share: float = 1.0  # how often each pair occurs in an epoch, on average
    way: str = ""  # "to": only from the first language to the second; "from": only back

    @property
    def directions(self) -> list[tuple[str, str]]:
        return {"": [self.languages, self.languages[::-1]], "to": [self.languages],
                "from": [self.languages[::-1]]}[self.way]


@dataclasses.dataclass
class Split:
    """The training data, and the held-out pairs of each pair of languages."""

    train: list[ParallelText]
    test: dict[tuple[str, str], list[Pair]] = dataclasses.field(default_factory=dict)
    validation: dict[tuple[str, str], list[Pair]] = dataclasses.field(default_factory=dict)


def read_parallel_text(flag: str) -> ParallelText:
    """The file that a flag like `eng-deu=FILE`, `eng-to-deu=FILE` or `eng-deu@0.2=FILE` names:
    lines PIVOT tab OTHER, perhaps .xz."""
    name, _, path = flag.partition("=")
    name, at, share = name.partition("@")
    match = re.fullmatch(r"([^-]+)-(?:(to|from)-)?([^-]+)", name)
    if not match or match[1] == match[3] or not path:
        raise InputError(f"--data {flag}: want LANGUAGE-LANGUAGE=FILE, such as eng-deu=text.tsv")
    languages, way = (match[1], match[3]), match[2] or ""
    if at and not (re.fullmatch(r"\d*\.?\d+", share, re.ASCII) and 0 < float(share) <= 1000):
        raise InputError(f"--data {flag}: want a share above 0 and at most 1000 after the @")
    pairs: dict[Pair, None] = {}  # an ordered set
    try:
        with (lzma.open if path.endswith(".xz") else open)(
                path, "rt", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                columns = line.rstrip("\r\n").split("\t")
                if len(columns) < 2:
                    raise InputError(f"{path}:{number}: has no tab, want {name} with a tab")
                if columns[0].strip() and columns[1].strip():
                    pairs[columns[0], columns[1]] = None
    except (OSError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    return ParallelText(languages, path, list(pairs), float(share) if at else 1.0, way)


def sentence_key(text: str) -> str:
    """A key that ignores case, punctuation and spaces."""
    return "".join(filter(str.isalnum, text.casefold())) or text.strip()


def _rank(text: str) -> bytes:
    """A sort key that depends only on the text: not on the machine, the file or its order."""
    return hashlib.sha256(text.encode()).digest()


def _hold_out(pairs: Iterable[Pair], counts: tuple[int, int]) -> tuple[list[Pair], list[Pair]]:
    """Returns the first counts[0] pairs and the next counts[1], in the order of their hashes.  No
    two have the same sentence on either side."""
    ranked = sorted((_rank(sentence_key(pair[0])), _rank("\t".join(pair)), pair) for pair in pairs)
    chosen, seen = [], (set(), set())
    for _, _, pair in ranked:
        keys = sentence_key(pair[0]), sentence_key(pair[1])
        if len(chosen) < sum(counts) and keys[0] not in seen[0] and keys[1] not in seen[1]:
            chosen.append(pair)
            seen[0].add(keys[0])
            seen[1].add(keys[1])
    if len(chosen) < sum(counts):
        raise InputError(f"{len(chosen)} distinct pairs, want at least {sum(counts)}: "
                         "give more text, or a lower --test-pairs and --validation-pairs")
    return chosen[:counts[0]], chosen[counts[0]:]


def _sentences(parts: Iterable[tuple[tuple[str, str], list[Pair]]]) -> dict[str, set[str]]:
    """The keys of all sentences by language."""
    keys: dict[str, set[str]] = {}
    for languages, pairs in parts:
        for pair in pairs:
            for language, sentence in zip(languages, pair):
                keys.setdefault(language, set()).add(sentence_key(sentence))
    return keys


def _has(pair: Pair, languages: tuple[str, str], keys: dict[str, set[str]]) -> bool:
    return any(sentence_key(sentence) in keys.get(language, ())
               for language, sentence in zip(languages, pair))


def split(texts: list[ParallelText], test: int, validation: int) -> Split:
    """Holds out `test` and `validation` pairs for each pair of languages, over all of its files.

    A held-out sentence, compared by sentence_key, occurs in no training pair: a pivot sentence
    in none of any language, a sentence of the other side in none of its language.  What a file with
    a share above 1 has is to be learned, so it is not held out.
    """
    result = Split(train=[])
    learned = _sentences(((text.languages, text.pairs) for text in texts if text.share > 1))
    for languages in dict.fromkeys(text.languages for text in texts):
        if languages[0] != texts[0].languages[0]:
            raise InputError(f"--data {'-'.join(languages)}: the first language must be the same "
                             f"in all files, here {texts[0].languages[0]}")
        pairs = [pair for text in texts if text.languages == languages
                 for pair in text.pairs if not _has(pair, languages, learned)]
        result.test[languages], result.validation[languages] = _hold_out(pairs, (test, validation))
    held = _sentences([*result.test.items(), *result.validation.items()])
    for text in texts:
        pairs = [pair for pair in text.pairs if not _has(pair, text.languages, held)]
        result.train.append(dataclasses.replace(text, pairs=pairs))
    if not any(text.pairs for text in result.train):
        raise InputError("all pairs are held out, and none is left to train on: give more text, or "
                         "a lower --test-pairs and --validation-pairs")
    return result


def write_held_out(result: Split, directory: str) -> None:
    """Writes test.eng-deu.tsv, validation.eng-deu.tsv and so on, for tools/evaluate."""
    os.makedirs(directory, exist_ok=True)
    for name, held in (("test", result.test), ("validation", result.validation)):
        for languages, pairs in held.items():
            path = os.path.join(directory, f"{name}.{'-'.join(languages)}.tsv")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{pivot}\t{other}\n" for pivot, other in pairs)
