"""The pages in Chromium: page.test.js drives them against a fake server and against the real one.

Debian's Chromium and node are enough.  The optional test does it all once more with npm's axe-core, which judges how
accessible the pages are.  DRAGOMAN_CHROMIUM names another Chromium, DRAGOMAN_SCREENSHOTS a folder for screenshots.
"""

import os
import shutil
import subprocess
import tempfile
import unittest

from harness import FLOAT32, SOURCE_DIR, Server
from suite import optional

TESTS = os.path.join(SOURCE_DIR, "tests/page")
CHROMIUM = os.environ.get("DRAGOMAN_CHROMIUM", "chromium-headless-shell")


class PageTest(unittest.TestCase):

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    def drive(self, **environment):
        server = Server(*FLOAT32, "--workers", "1")
        try:
            ended = subprocess.run(
                ["node", "--test", "--test-reporter=tap", "page.test.js"], cwd=TESTS, capture_output=True, text=True, timeout=1000,
                env={**os.environ, "DRAGOMAN_CHROMIUM": CHROMIUM, "DRAGOMAN_PAGE": f"http://{server.http_address}",
                     **environment})
        finally:
            code = server.stop()
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertRegex(ended.stdout, r"# skipped 0\n")
        self.assertEqual(code, 0)

    def test_in_chromium(self):
        self.drive()

    @optional
    def test_in_chromium_with_axe(self):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(TESTS, name), self.directory)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=self.directory, timeout=300,
                       check=True)
        self.drive(DRAGOMAN_AXE=os.path.join(self.directory, "node_modules/axe-core/axe.min.js"))


if __name__ == "__main__":
    unittest.main()
