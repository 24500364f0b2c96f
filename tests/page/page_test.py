"""The pages in Chromium: page.test.js drives them against a fake server and against the real one.

Skipped without Chromium, node or the npm packages.  DRAGOMAN_SCREENSHOTS names a folder for screenshots.
"""

import os
import shutil
import subprocess
import tempfile
import unittest

from harness import FLOAT32, SOURCE_DIR, Server


class PageTest(unittest.TestCase):

    def test_in_chromium(self):
        chromium = os.environ.get("DRAGOMAN_CHROMIUM") or shutil.which("chromium")
        for program in (chromium, shutil.which("node"), shutil.which("npm")):
            if not program:
                self.skipTest("chromium, node or npm is not installed")
        with tempfile.TemporaryDirectory() as directory:
            # The same layout as in the tree, because the fake server serves ../../server/page.
            tests = os.path.join(directory, "tests", "page")
            for part, into in (("tests/page", tests), ("server/page", os.path.join(directory, "server", "page"))):
                shutil.copytree(os.path.join(SOURCE_DIR, part), into, ignore=shutil.ignore_patterns("node_modules"))
            try:
                installed = subprocess.run(
                    ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries", "0"],
                    cwd=tests, capture_output=True, text=True, timeout=120)
            except subprocess.TimeoutExpired:
                self.skipTest("npm did not get the packages within 120 s")
            if installed.returncode != 0:
                self.skipTest("npm cannot get the packages: " + installed.stderr.strip()[:200])
            server = Server(*FLOAT32, "--workers", "1", "--glossaries", os.path.join(directory, "glossaries"),
                            "--translation-memories", os.path.join(directory, "memories"))
            try:
                ended = subprocess.run(
                    ["node", "--test", "page.test.js"], cwd=tests, capture_output=True, text=True, timeout=1000,
                    env={**os.environ, "DRAGOMAN_CHROMIUM": chromium, "DRAGOMAN_PAGE": f"http://{server.http_address}"})
            finally:
                code = server.stop()
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            self.assertEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
