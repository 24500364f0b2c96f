#!/usr/bin/env python3
"""Counts how often literals come through a translation, and keep their neighbours.

    tests/bench/literals.py --server 127.0.0.1:9464 --model en-de --source en --target de

Each of 2,000 sentences is a pattern with a literal of some kind in its gap.  A literal is kept if it is in the
translation exactly once.  A neighbour is right if it is one that a name (NAMES) has in the translation of the same
pattern, as far as the name is in there exactly once.
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
NAMES = "Tom Anna Boston Wikipedia Linux".split()  # persons, places and things, which are translated differently
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
    return [word.strip(".,?!") for word in words]


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
        if kept and named[pattern]:
            row[2] += 1
            got = neighbours(text, literal)
            row[3] += any(left == got[0] or right == got[1] for left, right in named[pattern])
    for kind, (count, kept, compared, right) in sorted(table.items()):
        print(f"{kind:8} {count:5}   kept {100 * kept / count:5.1f} %   "
              f"a neighbour is right {100 * right / max(1, compared):5.1f} %")


if __name__ == "__main__":
    main()
