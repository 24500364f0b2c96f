"""suite.py and not_run.py: nothing is skipped in silence."""

import os
import subprocess
import sys
import tempfile
import unittest

import ledger

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "    @optional\n"
MODULE = "import unittest\n\nfrom suite import optional\n\n\nclass ATest(unittest.TestCase):\n\n"
RESULTS = """<testsuite>
<testcase name="whole" status="run"><system-out>fine</system-out></testcase>
<testcase name="program" status="run"><system-out>a_test.cc:12: Skipped
no IPv6

[  SKIPPED ] A.B (0 ms)</system-out></testcase>
{}</testsuite>
"""
SKIPPED = """<testcase name="{}" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>{}</system-out></testcase>
"""


class SuiteTest(unittest.TestCase):

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_script(self, name, *arguments):
        ended = subprocess.run([sys.executable, os.path.join(HERE, name), *arguments], cwd=self.directory,
                               capture_output=True, text=True, timeout=60, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def test_the_exit_code_tells_whether_all_ran(self):
        for body, want, said in (("pass", 0, "OK"), ("self.skipTest('no tool')", 77, "skipped 'no tool'"),
                                 ("open('/nowhere/tool')", 1, "/nowhere/tool"), ("self.fail()", 1, "FAILED")):
            self.write("a_test.py", f"{MODULE}    def test_a(self):\n        {body}\n")
            code, output = self.run_script("suite.py", "a_test")
            self.assertEqual(code, want, output)
            self.assertIn(said, output)

    def test_optional_tests_run_apart(self):
        self.write("a_test.py", f"{MODULE}    def test_a(self):\n        pass\n\n{MARK}    def test_b(self):\n        pass\n")
        for arguments, runs, not_run in ((("a_test",), "test_a", "test_b"), (("--all", "a_test"), "test_b", "test_a")):
            code, output = self.run_script("suite.py", *arguments)
            self.assertEqual(code, 0, output)
            self.assertIn(runs, output)
            self.assertNotIn(not_run, output)

    def test_a_module_without_tests_fails(self):
        self.write("a_test.py", MODULE + "    pass\n")
        self.assertEqual(self.run_script("suite.py", "a_test")[0], 1)

    def not_run(self, *tests):
        self.write("build/tests/left_out.txt", "this CPU has no amx_tile: one\nthis CPU has no amx_tile: two\n")
        results = self.write("results.xml", RESULTS.format("".join(SKIPPED.format(*test) for test in tests)))
        return self.run_script("not_run.py", "build", results, "--all")

    def test_says_what_did_not_run(self):
        code, output = self.not_run(("capped", "this CPU has no avx2"))
        self.assertEqual(code, 0, output)
        self.assertEqual(output.splitlines()[1:], [
            "  this CPU has no avx2: capped", "  no IPv6: a case of program", "  this CPU has no amx_tile: one, two"])
        code, output = self.not_run(("python", "test_a (a.A.test_a) ... skipped 'no tool'"), ("script", "skipped: no tree"))
        self.assertEqual(code, 1, output)
        self.assertEqual(output.splitlines()[1:3], ["  no tool: python", "  no tree: script"])


class LedgerTest(unittest.TestCase):

    def test_seconds_are_those_of_the_last_time_by_room(self):
        log = ("# ninja log v5\n0\t9000\t1\tengine/math/CMakeFiles/m.dir/a.cc.o\tx\n"
               "0\t3000\t1\tengine/math/CMakeFiles/m.dir/a.cc.o\tx\n"
               "1000\t2000\t1\tserver/CMakeFiles/s.dir/Unity/unity_0_cxx.cxx.o\tx\n"
               "0\t9000\t1\tserver/dragoman-server\tx\n"
               "0\t500\t1\ttests/server/CMakeFiles/t.dir/http/a.cc.o\tx\n"
               "0\t500\t1\tproto/CMakeFiles/p.dir/generated/a.pb.cc.o\tx\n")
        self.assertEqual(ledger.compiled(log), {"engine/math": 3, "server": 1, "tests/server": 0.5, "proto": 0.5})

    def test_a_share_that_has_grown_is_named(self):
        stated = {"server": 40.0, "client": 1.0, "engine": 20.0}
        self.assertEqual(list(ledger.grown({"server": 59.0, "client": 3.9, "engine": 21.0}, stated)), [])
        faults = list(ledger.grown({"server": 61.0, "client": 4.1, "new": 3.5}, stated))
        self.assertEqual([fault.split(":")[0] for fault in faults], ["client", "new", "server"])

    def test_only_the_compiler_of_the_table_is_compared(self):
        for version, why_not in (("12.2.0", None), ("14.2.0", "by version 14 of the compiler")):
            with tempfile.TemporaryDirectory() as build:
                os.makedirs(os.path.join(build, "CMakeFiles/3.25.1"))
                with open(os.path.join(build, "CMakeCache.txt"), "w", encoding="utf-8"):
                    pass
                with open(os.path.join(build, "CMakeFiles/3.25.1/CMakeCXXCompiler.cmake"), "w",
                          encoding="utf-8") as file:
                    file.write(f'set(CMAKE_CXX_COMPILER_VERSION "{version}")\n')
                self.assertEqual(ledger.not_compared(build), why_not)

    def test_the_page_has_both_tables(self):
        with open(ledger.PAGE, encoding="utf-8") as file:
            page = file.read()
        for table in page.split("## What the tests take"):
            self.assertAlmostEqual(sum(float(share) for _, share in ledger.ROW.findall(table)), 100, delta=1)


if __name__ == "__main__":
    unittest.main()
