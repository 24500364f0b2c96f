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
    share: float = 1.0  # the part of its pairs that an epoch samples


@dataclasses.dataclass
class Split:
    """The training data, and the held-out pairs of each pair of languages."""

    train: list[ParallelText]
    test: dict[tuple[str, str], list[Pair]] = dataclasses.field(default_factory=dict)
    validation: dict[tuple[str, str], list[Pair]] = dataclasses.field(default_factory=dict)


def read_parallel_text(flag: str) -> ParallelText:
    """The file that a flag like `eng-deu=FILE` or `eng-deu@0.2=FILE` names: lines PIVOT tab OTHER,
    perhaps .xz."""
    name, _, path = flag.partition("=")
    name, at, share = name.partition("@")
    languages = tuple(name.split("-"))
    if len(languages) != 2 or not all(languages) or languages[0] == languages[1] or not path:
        raise InputError(f"--data {flag}: want LANGUAGE-LANGUAGE=FILE, such as eng-deu=text.tsv")
    if at and not (re.fullmatch(r"\d*\.?\d+", share, re.ASCII) and 0 < float(share) <= 1):
        raise InputError(f"--data {flag}: want a share above 0 and at most 1 after the @")
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
    return ParallelText(languages, path, list(pairs), float(share) if at else 1.0)


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
        raise InputError(f"{len(chosen)} distinct pairs, want more than {sum(counts)}: "
                         "give more text, or a lower --test-pairs and --validation-pairs")
    return chosen[:counts[0]], chosen[counts[0]:]


def split(texts: list[ParallelText], test: int, validation: int) -> Split:
    """Holds out `test` and `validation` pairs for each pair of languages, over all of its files.

    A held-out sentence, compared by sentence_key, occurs in no training pair: a pivot sentence
    in none of any language, a sentence of the other side in none of its language.
    """
    result = Split(train=[])
    for languages in dict.fromkeys(text.languages for text in texts):
        if languages[0] != texts[0].languages[0]:
            raise InputError(f"--data {'-'.join(languages)}: the first language must be the same "
                             f"in all files, here {texts[0].languages[0]}")
        pairs = [pair for text in texts if text.languages == languages for pair in text.pairs]
        result.test[languages], result.validation[languages] = _hold_out(pairs, (test, validation))
    held: dict[str, set[str]] = {}
    for languages in result.test:
        for pair in result.test[languages] + result.validation[languages]:
            for language, sentence in zip(languages, pair):
                held.setdefault(language, set()).add(sentence_key(sentence))
    for text in texts:
        pairs = [pair for pair in text.pairs
                 if not any(sentence_key(sentence) in held.get(language, ())
                            for language, sentence in zip(text.languages, pair))]
        result.train.append(dataclasses.replace(text, pairs=pairs))
    return result


def write_held_out(result: Split, directory: str) -> None:
    """Writes test.eng-deu.tsv, validation.eng-deu.tsv and so on, for tools/evaluate."""
    os.makedirs(directory, exist_ok=True)
    for name, held in (("test", result.test), ("validation", result.validation)):
        for languages, pairs in held.items():
            path = os.path.join(directory, f"{name}.{'-'.join(languages)}.tsv")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{pivot}\t{other}\n" for pivot, other in pairs)
