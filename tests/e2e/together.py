"""Runs the tests of a module two at a time, for modules whose tests wait most of the time.

    load_tests = together.load_tests

A class with a fixture (setUpClass) runs in one piece, and the tests of other classes each by itself.  For modules
without setUpModule.  A test that is run by its name runs alone.
"""

import concurrent.futures as futures
import unittest

_TOLD = ("startTest", "stopTest", "addSuccess", "addError", "addFailure", "addSkip", "addExpectedFailure",
         "addUnexpectedSuccess", "addSubTest")


class _Record(unittest.TestResult):
    """What a result is told, so that it can be told to another one."""

    def __init__(self):
        super().__init__()
        self.told = []

    def tell(self, result):
        for name, arguments in self.told:
            getattr(result, name)(*arguments)


def _recorded(name):
    def record(self, *arguments):
        getattr(unittest.TestResult, name)(self, *arguments)
        self.told.append((name, arguments))
    return record


for _name in _TOLD:
    setattr(_Record, _name, _recorded(_name))


def _pieces(suite):
    """The tests that are run one after the other, each time as a suite; those of fixtures first."""
    tests = list(_tests(suite))
    fixtures = {type(test): [] for test in tests if type(test).setUpClass.__func__ is not _NO_FIXTURE}
    alone = []
    for test in tests:
        fixtures.get(type(test), alone).append(test)
    return [*fixtures.values(), *([test] for test in alone)]


_NO_FIXTURE = unittest.TestCase.setUpClass.__func__


def _tests(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _tests(each)
        else:
            yield each


class _Together(unittest.TestSuite):

    def run(self, result, debug=False):
        def record(tests):
            recorded = _Record()
            unittest.TestSuite(tests).run(recorded)
            return recorded
        with futures.ThreadPoolExecutor(2) as pool:
            for recorded in pool.map(record, _pieces(self)):
                recorded.tell(result)
        return result


def load_tests(_loader, tests, _pattern):
    return _Together([tests])
