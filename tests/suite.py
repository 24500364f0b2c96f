"""Runs the tests of a Python module; CTest calls it in the folder of the module.

    suite.py [--all] MODULE

Without --all it runs the tests that need only what ./test.sh installs; a tool that is missing is an error.  With it,
it runs those that are marked by `optional`, which ./test.sh --all runs as well.  If one of them was skipped, the exit
code is 77, so that CTest does not say that they passed.
"""

import importlib
import os
import sys
import unittest

SKIPPED = 77


def optional(test):
    """Marks a test, or a class of tests, as one for ./test.sh --all."""
    test.is_optional = True
    return test


def is_optional(test):
    return hasattr(test, "is_optional") or hasattr(getattr(test, test.id().split(".")[-1]), "is_optional")


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def main(arguments):
    only_optional = arguments[:1] == ["--all"]
    sys.path.insert(0, os.getcwd())
    module = importlib.import_module(arguments[-1])
    every = tests_of(unittest.defaultTestLoader.loadTestsFromModule(module))
    chosen = unittest.TestSuite(test for test in every if is_optional(test) == only_optional)
    if not chosen.countTestCases():
        print(f"{arguments[-1]} has no such tests", file=sys.stderr)
        return 1
    result = unittest.TextTestRunner(verbosity=2).run(chosen)
    if not result.wasSuccessful():
        return 1
    return SKIPPED if result.skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
