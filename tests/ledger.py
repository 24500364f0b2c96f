#!/usr/bin/python3
"""Compares what building and testing took with the tables of docs/building.md; ./test.sh calls it last.

    ledger.py BUILD RESULTS            the last build, from ninja's log, and the last run of all tests
    ledger.py BUILD RESULTS --write    also writes the shares into the page

BUILD is the folder of the build, and RESULTS what ctest wrote with --output-junit.  Machines differ by a factor of two,
so what is compared is shares of the sum, and only they: a room's share of the compiling, and a label's of the tests.  A
share that has grown by half and by three points fails; whoever means it changes the page.
"""

import glob
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs/building.md")
ROW = re.compile(r"^\| `([\w/.-]+)` \| (\d+\.\d) \|$", re.M)


def room(output):
    """Of an object file: "engine/math", "server", "tests/server"; None of what is not compiled."""
    found = re.match(r"((engine|tests)(/\w+)?|\w+)(/\w+)*/CMakeFiles/.*\.o$", output)
    return found and found.group(1)


def compiled(log):
    """Seconds by room in ninja's log, whose last line about a file counts."""
    last = {}
    for line in log.splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            last[output] = (int(end) - int(begin)) / 1000
    seconds = {}
    for output, of_output in last.items():
        if room(output):
            seconds[room(output)] = seconds.get(room(output), 0) + of_output
    return seconds


def tested(results, labels):
    """Seconds by label; a test without one counts as "unit", and one with several by the first."""
    seconds = {}
    for case in results.iter("testcase"):
        label = (labels.get(case.get("name")) or ["unit"])[0]
        seconds[label] = seconds.get(label, 0) + float(case.get("time"))
    return seconds


def shares(seconds):
    whole = sum(seconds.values())
    return {name: 100 * of_name / whole for name, of_name in seconds.items()}


def grown(found, stated):
    """What takes more than its stated share, a line each."""
    for name, share in sorted(found.items()):
        at_most = max(stated.get(name, 0) * 1.5, stated.get(name, 0) + 3)
        if share > at_most:
            yield f"{name}: {share:.1f} % of the seconds, want at most {at_most:.1f} (docs/building.md)"


def labels_of(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                            check=True)
    return {test["name"]: next((p["value"] for p in test.get("properties", ()) if p["name"] == "LABELS"), [])
            for test in json.loads(listed.stdout)["tests"]}


def not_compared(build):
    """Why the seconds of compiling say nothing; None: they do.  The table is that of Debian 12's compiler."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        if re.search(r"^CMAKE_CXX_COMPILER_LAUNCHER:\w+=.+$", file.read(), re.M):
            return "through a compiler cache"
    described, = glob.glob(os.path.join(build, "CMakeFiles/*/CMakeCXXCompiler.cmake"))
    with open(described, encoding="utf-8") as file:
        major, = re.search(r'CMAKE_CXX_COMPILER_VERSION "(\d+)', file.read()).groups()
    return None if major == "12" else f"by version {major} of the compiler"


def main(build, results, write):
    why_not = not_compared(build)
    with open(os.path.join(build, ".ninja_log"), encoding="utf-8") as file:
        of_build = compiled(file.read())
    of_tests = tested(ElementTree.parse(results), labels_of(build))
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before = page[:page.index("## What the tests take")]
    compile_table = dict((name, float(share)) for name, share in ROW.findall(before))
    test_table = dict((name, float(share)) for name, share in ROW.findall(page[len(before):]))
    print(f"== Seconds: {sum(of_build.values()):.0f} of compiling"
          f"{f' ({why_not}: not compared)' if why_not else ''}, {sum(of_tests.values()):.0f} of tests")
    faults = [] if why_not else list(grown(shares(of_build), compile_table))
    faults += grown(shares(of_tests), test_table)
    for fault in faults:
        print(f"  {fault}")
    if write:
        def rows(found):
            return "".join(f"| `{name}` | {share:.1f} |\n" for name, share in
                           sorted(shares(found).items(), key=lambda item: -item[1]))
        table = re.compile(r"(?:^\| `[\w/.-]+` \| \d+\.\d \|\n)+", re.M)
        page = (table.sub(lambda _: rows(of_build), before, count=1) +
                table.sub(lambda _: rows(of_tests), page[len(before):], count=1))
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "--write" in sys.argv[3:]))
