"""Parallel text that a tiny model learns in seconds: number words in three languages.

French keeps the order of the words and German reverses it, so a model must know the words and
attend to the right one.
"""

import os
import random

ENGLISH = "one two three four five six seven eight nine ten".split()
FRENCH = "un deux trois quatre cinq six sept huit neuf dix".split()
GERMAN = "eins zwei drei vier fünf sechs sieben acht neun zehn".split()


def write(directory: str, pairs: int = 2000, way: str = "-") -> list[str]:
    """Writes both files; returns the flags of train.py that name them, for the directions that
    `way` is for: "-" both, "-to-" from English."""
    source = random.Random(1)
    lines = {"eng-fra": [], "eng-deu": []}
    for _ in range(pairs):
        numbers = [source.randrange(10) for _ in range(source.randint(2, 6))]
        english = " ".join(ENGLISH[n] for n in numbers)
        lines["eng-fra"].append(f'{english}\t{" ".join(FRENCH[n] for n in numbers)}\n')
        lines["eng-deu"].append(f'{english}\t{" ".join(GERMAN[n] for n in reversed(numbers))}\n')
    flags = []
    for name, text in lines.items():
        path = os.path.join(directory, name + ".tsv")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(text)
        flags += ["--data", f"{name.replace('-', way)}={path}"]
    return flags
