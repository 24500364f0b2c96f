#!/usr/bin/env python3
"""Writes engine/base/html_entities.inc, the named character references of HTML, from Python's copy of the standard's.

    tools/html_entities.py            writes it
    tools/html_entities.py --check    fails if it would change
"""

import html.entities
import os
import sys

PATH = os.path.join(os.path.dirname(__file__), "..", "engine", "base", "html_entities.inc")


def table():
    entries = []
    for name, text in sorted(html.entities.html5.items()):
        points = ", ".join(f"0x{ord(c):X}" for c in text)
        entries.append(f'{{"{name}", {points}}},')
    lines = ["// Made by tools/html_entities.py from the standard's list (WHATWG HTML, section 13.5)."]
    line = ""
    for entry in entries:
        if len(line) + 1 + len(entry) > 100:
            lines.append(line)
            line = ""
        line += (" " if line else "") + entry
    return "\n".join([*lines, line]) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        with open(PATH, encoding="ascii") as file:
            return "html_entities.inc is not what tools/html_entities.py makes" if file.read() != table() else 0
    with open(PATH, "w", encoding="ascii") as file:
        file.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
