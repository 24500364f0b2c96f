"""BLEU and chrF of a corpus, as sacreBLEU 2 defines them, and the word error rate.

    bleu(["The dog bit the man."], [["The dog had bit the man."]]).score

BLEU (Papineni et al., 2002; Post, 2018) uses the tokenization 13a, n-grams of 1 to 4 words, the
smoothing "exp" and no effective order: sacreBLEU's signature case:mixed|eff:no|tok:13a|smooth:exp.
chrF2 (Popovic, 2015) uses characters without white space, n-grams of 1 to 6, and beta 2: sacreBLEU's
signature case:mixed|eff:yes|nc:6|nw:0|space:no.
"""

import collections
import math
import re

Bleu = collections.namedtuple("Bleu", "score precisions brevity_penalty words reference_words")

# The rules by which mteval-v13a.pl separates punctuation, in this order.
_SET_OFF = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),  # unless after a digit
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),  # unless before a digit
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def tokenize_13a(text):
    """The words of `text`."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, character)
    text = f" {text} "
    for pattern, replacement in _SET_OFF:
        text = pattern.sub(replacement, text)
    return text.split()


def _ngrams(sequence, n):
    """Counts each n-gram of a string or a tuple."""
    return collections.Counter(sequence[i:i + n] for i in range(len(sequence) - n + 1))


def _bleu_counts(translation, references, order):
    """Returns (words, words of the reference of the nearest length, [(matches, n-grams) per n])."""
    words = tuple(tokenize_13a(translation))
    references = [tuple(tokenize_13a(reference)) for reference in references]
    nearest = min((abs(len(r) - len(words)), len(r)) for r in references)[1]
    counts = []
    for n in range(1, order + 1):
        allowed = collections.Counter()
        for reference in references:
            allowed |= _ngrams(reference, n)
        found = _ngrams(words, n)
        counts.append((sum((found & allowed).values()), sum(found.values())))
    return len(words), nearest, counts


def bleu(translations, references, order=4):
    """BLEU, 0 to 100; each translation has a list of references."""
    words = reference_words = 0
    matches, totals = [0] * order, [0] * order
    for translation, several in zip(translations, references, strict=True):
        length, nearest, counts = _bleu_counts(translation, several, order)
        words += length
        reference_words += nearest
        for n, (matched, total) in enumerate(counts):
            matches[n] += matched
            totals[n] += total
    brevity = 1.0
    if words < reference_words:
        brevity = math.exp(1 - reference_words / words) if words else 0.0
    precisions, smoothing = [0.0] * order, 1.0
    for n in range(order):
        if totals[n] == 0:
            break
        if matches[n] == 0:
            smoothing *= 2
            precisions[n] = 100 / (smoothing * totals[n])
        else:
            precisions[n] = 100 * matches[n] / totals[n]
    score = 0.0
    if any(matches) and all(precisions):
        score = brevity * math.exp(sum(map(math.log, precisions)) / order)
    return Bleu(score, precisions, brevity, words, reference_words)


def chrf(translations, references, order=6, beta=2):
    """chrF, 0 to 100; each translation has one reference."""
    matches, found, wanted = [0] * order, [0] * order, [0] * order
    for translation, reference in zip(translations, references, strict=True):
        translation, reference = "".join(translation.split()), "".join(reference.split())
        for n in range(order):
            ours, theirs = _ngrams(translation, n + 1), _ngrams(reference, n + 1)
            matches[n] += sum((ours & theirs).values())
            found[n] += sum(ours.values())
            wanted[n] += sum(theirs.values())
    orders = [n for n in range(order) if found[n] and wanted[n]]
    if not any(matches):
        return 0.0
    precision = sum(matches[n] / found[n] for n in orders) / len(orders)
    recall = sum(matches[n] / wanted[n] for n in orders) / len(orders)
    return 100 * (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def word_error_rate(translations, references):
    """The words to insert, delete or replace (Levenshtein, 1966) to make the references of the translations, in
    percent of the words of the references: above 100 if there are more.  A word is what stands between white space."""
    errors = words = 0
    for translation, reference in zip(translations, references, strict=True):
        wanted = reference.split()
        row = list(range(len(wanted) + 1))  # the errors of no words against the first n of those wanted
        for word in translation.split():
            above, row = row, [row[0] + 1]
            for n, want in enumerate(wanted):
                row.append(min(above[n] + (word != want), above[n + 1] + 1, row[n] + 1))
        errors += row[-1]
        words += len(wanted)
    return 100 * errors / max(words, 1)
