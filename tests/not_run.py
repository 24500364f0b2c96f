#!/usr/bin/python3
"""Says what of the tests did not run, and why; ./test.sh calls it after ctest.

    not_run.py BUILD RESULTS [--all]

BUILD is the folder of the build, and RESULTS what ctest wrote with --output-junit.  With --all the optional part was
to run as well: the exit code is 1 if a test of it was skipped.  What the CPU cannot do is not the fault of anybody.
"""

import collections
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

# A reason in the output of a test: of unittest, of our scripts, of a capped test.
REASON = re.compile(r"\.\.\. skipped ['\"](.*)['\"]$|^skipped: (.*)$|^(this CPU has no \w+)$", re.M)
# A case that GoogleTest skipped in a program that passed, and its reason.
CASE = re.compile(r"^\S+:\d+: Skipped\n(.*)$", re.M)


def add(names, reason, name):
    if name not in names[reason]:
        names[reason].append(name)


def skipped(results):
    """The tests that were skipped, by reason."""
    names = collections.defaultdict(list)
    for case in results.iter("testcase"):
        if case.find("skipped") is not None:
            reasons = ["".join(found) for found in REASON.findall(case.findtext("system-out", ""))]
            add(names, "; ".join(sorted(set(reasons))) or case.find("skipped").get("message"), case.get("name"))
    return names


def skipped_cases(results):
    """The programs with skipped cases, by reason."""
    names = collections.defaultdict(list)
    for case in results.iter("testcase"):
        if case.find("skipped") is None:
            for reason in CASE.findall(case.findtext("system-out", "")):
                add(names, reason, "a case of " + case.get("name"))
    return names


def left_out(build):
    """The tests that CMake did not define for this machine, by reason."""
    names = collections.defaultdict(list)
    with open(os.path.join(build, "tests/left_out.txt"), encoding="utf-8") as file:
        for line in file:
            add(names, *line.strip().split(": "))
    return names


def optional(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only", "--label-regex", "^all$"],
                            capture_output=True, text=True, check=False)
    return re.findall(r"^ *Test +#\d+: (\S+)$", listed.stdout, re.M)


def show(names):
    for reason, of_reason in sorted(names.items()):
        print(f"  {reason}: {', '.join(of_reason)}")


def main(build, results, all_of_them):
    results = ElementTree.parse(results)
    of_tests = skipped(results)
    faults = [reason for reason in of_tests if not reason.startswith("this CPU")]
    print("== Not run")
    show(of_tests)
    show(skipped_cases(results))
    show(left_out(build))
    if not all_of_them:
        print(f"  only ./test.sh --all runs: {', '.join(optional(build))}")
        return 0
    if faults:
        print("What is optional must run with --all.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "--all" in sys.argv[3:]))
