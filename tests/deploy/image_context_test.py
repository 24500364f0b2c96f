"""The files that .dockerignore leaves to the build of the image are enough to configure it."""

import os
import shutil
import subprocess
import tempfile
import unittest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class ImageContextTest(unittest.TestCase):

    def test_cmake_finds_all_files(self):
        with open(os.path.join(TREE, ".dockerignore"), encoding="utf-8") as file:
            rules = [line.strip() for line in file if line.strip() and not line.startswith("#")]
        self.assertEqual(rules[0], "*")
        context = self.enterContext(tempfile.TemporaryDirectory())
        for rule in rules[1:]:
            self.assertTrue(rule.startswith("!"), rule)
            source, copy = os.path.join(TREE, rule[1:]), os.path.join(context, rule[1:])
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.isdir(source):
                shutil.copytree(source, copy)
            else:
                shutil.copy(source, copy)
        ended = subprocess.run(["cmake", "--preset", "release", "-DBUILD_TESTING=OFF"], cwd=context,
                               capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    unittest.main()
