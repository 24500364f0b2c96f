#!/usr/bin/env python3
"""Counts how often literals come through a translation, and keep their neighbours.

    tests/bench/literals.py --server 127.0.0.1:9464 --model en-de --source en --target de

Each of 2,000 sentences is a pattern with a literal of some kind in its gap.  A literal is kept if it is in the
translation exactly once.

What stands for a word has the right neighbour if one next to it is next to a name (NAMES), too, in the translation of
the same pattern, as far as the name is in there exactly once.  An emoji stands for no word: "We send you 🙂 tomorrow."
has no object, and "Wir schicken dir 🙂 morgen." is right, though it is "Wir schicken dir morgen Tom."  It is right if
the word before it means what the word before it meant, or the word after it what that meant (BESIDE).
"""

import argparse
import json
import random
import re
import urllib.request

PATTERNS = """The man sees @ in the house.
Please open @ and read it.
Write to @ if you need help.
@ is not available.
Visit @ for more information.
I found @ on the table.
The file @ was not found.
Hello @, how are you?
Click on @ to continue.
We send you @ tomorrow.
Do you know @?
Thank you for @.
The price of @ is too high.
My sister works with @ every day.
Where is @?
@ and the old teacher are here.
She said that @ was closed.
Use @ instead.
I love you @""".split("\n")
# Persons, places and a thing, which are translated differently.  They are names that small models copy: a model that
# cannot spell a name says nothing about its place.
NAMES = "Tom Anna Mary Boston Berlin Paris Google".split()
# For each pattern, what may stand before and after an emoji: ^ at the beginning, $ at the end.
BESIDE = {
    "de": """sieht|in im
öffne öffnen öffnet auf|und
an nach zu|wenn falls
^|ist
besuch besuche besuchen besucht|für um
fand|auf
datei|war wurde ist
hallo|,
auf|um zu
dir euch dich ihnen|morgen
kennst kennen kennt weißt wissen es das|?
für|. !
von vom des|ist
mit|jeden jedem jeder
ist|?
^|und
dass das|war wurde ist sei
benutze benutzen verwende verwenden nimm|stattdessen statt
dich euch sie|$""",
    "fr": """voit|dans
ouvrez ouvrir ouvre|et
à|si
^|n est
visitez visite visiter|pour
trouvé|sur
fichier|n a était
bonjour salut|,
sur|pour
vous te|demain
connaissez connais savez sais|?
pour|. !
de du|est
avec|chaque tous
est|?
^|et
que|était c a est
utilisez utilise utiliser|plutôt à au
vous|$""",
    "es": """ve|en
abra abre abrir|y
a|si
^|no
visite visita visitar|para por
encontré|en sobre
archivo|no fue
hola|,
en|para
te le les|mañana
conoces conoce sabes sabe|?
por|. !
de del|es está
con|cada todos
está es|?
^|y
que|estaba fue
use usa usar utilice utiliza|en
ti|$"""}
ELIDED = {"ne": "n", "de": "d", "que": "qu", "le": "l", "la": "l"}  # "ne fut" and "n'était"
WORDS = "alpha beta count name total user file page item order".split()


def kinds(rng):
    """A literal of each kind."""
    word, number = rng.choice(WORDS), rng.randint(1, 99)
    return {
        "url": f"https://{word}.example.org/{number}?{word}={number}",
        "e-mail": f"{word}.{number}@example.org",
        "path": f"/usr/share/{word}/{number}.txt",
        "handle": rng.choice("@#") + word,
        "printf": rng.choice(["%s", "%d", f"%{rng.randint(1, 9)}$s", "%.2f", f"%({word})s"]),
        "braces": rng.choice([f"{{{word}}}", f"{{{number}}}", f"{{{{{word}}}}}", f"${{{word.upper()}}}"]),
        "version": f"v{rng.randint(1, 9)}.{number}.{rng.randint(0, 9)}",
        "digits": str(rng.randint(10**8, 10**9)),
        "hex": f"0x{rng.randint(2**20, 2**30):X}",
        "emoji": rng.choice(["🙂", "🎉", "👍🏽", "❤️", "🇩🇪"]),
    }


def translate(arguments, texts, **more):
    found = []
    for begin in range(0, len(texts), 100):
        body = {"contents": texts[begin:begin + 100], "source_language": arguments.source,
                "target_language": arguments.target, "model": arguments.model, **more}
        request = urllib.request.Request(f"http://{arguments.server}/v1/translate", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            found += [t["hypotheses"][0]["text"] for t in json.load(answer)["translations"]]
    return found


def neighbours(text, literal):
    before, _, after = text.partition(literal)
    words = (before.split() or ["^"])[-1], (re.findall(r"\w+|[^\w\s]", after) or ["$"])[0]
    return [ELIDED.get(word, word.strip(".,?!")) for word in words]


def is_beside(pattern, language, text, literal):
    """Whether a word next to an emoji means what the one next to it meant."""
    before, after = (side.split(" ") for side in BESIDE[language].split("\n")[PATTERNS.index(pattern)].split("|"))
    left, right = neighbours(text, literal)
    mark = text.partition(literal)[2].strip()[:1]
    return left.lower() in before or right.lower() in after or mark in after


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="127.0.0.1:9464")
    parser.add_argument("--model", default="")
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="de")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--off", action="store_true", help="translate literals like words")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    cases = []  # (kind, literal, pattern)
    while len(cases) < arguments.sentences:
        cases += [(kind, literal, rng.choice(PATTERNS)) for kind, literal in kinds(rng).items()]
    options = {"literals": "LITERALS_OFF"} if arguments.off else {}
    named = {pattern: [] for pattern in PATTERNS}
    for name in NAMES:
        for pattern, text in zip(PATTERNS, translate(arguments, [p.replace("@", name) for p in PATTERNS])):
            if text.count(name) == 1:
                named[pattern].append(neighbours(text, name))
    texts = [pattern.replace("@", literal) for _, literal, pattern in cases]
    table = {}
    for (kind, literal, pattern), text in zip(cases, translate(arguments, texts, **options)):
        row = table.setdefault(kind, [0, 0, 0, 0])
        row[0] += 1
        kept = text.count(literal) == 1
        row[1] += kept
        if kept and kind == "emoji" and arguments.target in BESIDE:
            row[2] += 1
            row[3] += is_beside(pattern, arguments.target, text, literal)
        elif kept and kind != "emoji" and named[pattern]:
            row[2] += 1
            got = neighbours(text, literal)
            row[3] += any(left == got[0] or right == got[1] for left, right in named[pattern])
    for kind, (count, kept, compared, right) in sorted(table.items()):
        print(f"{kind:8} {count:5}   kept {100 * kept / count:5.1f} %   "
              f"a neighbour is right {100 * right / max(1, compared):5.1f} %")


if __name__ == "__main__":
    main()
