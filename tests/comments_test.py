"""Checks that files, functions and variables that comments and pages name exist.

Comments go stale when something is renamed.  In C++ comments this looks at paths (engine/request/route.h, beam.cc),
at calls without arguments (Find()) and at names in backquotes; in Markdown pages at paths.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("engine", "server", "client", "crypto", "web", "documents", "tests")

# Names of other projects, and of files that are made elsewhere.
EXTERNAL = {
    "integer_common.h",  # Marian
    "model_spec.py",  # CTranslate2
    "foreach_target.h",  # Highway
    "format.py",  # NumPy
    "code.proto",  # googleapis
    "darts.h", "sentencepiece_model.proto", "precompiled_charsmap",  # SentencePiece
    "FormData",  # browsers
    "test_bleu.py", "test_chrf.py",  # sacreBLEU
    "client.py", "deepl.py", "google.py", "libretranslate.py", "microsoft.py", "translator.py", "gptcommon.py",  # programs.md
}
SOURCE = r"(?<![\w./-])((?:[\w-]+/)*[\w-]{2,}\.(?:cc|h|proto|py))\b"


def tree():
    """The files of the project: those that git tracks, or without git, all outside of build folders."""
    listed = shutil.which("git") and subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed and listed.returncode == 0:
        return listed.stdout.split()
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ("build", ".git", "node_modules")]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return found


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class CommentsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.files = tree()
        cls.sources = {path: read(path) for path in cls.files
                       if path.startswith(FOLDERS) and path.endswith((".cc", ".h"))}
        code = "\n".join(re.sub(r"//[^\n]*", "", text) for text in cls.sources.values())
        cls.words = set(re.findall(r"\w+", code))

    def exists(self, path):
        name = os.path.basename(path)
        return name in EXTERNAL or any(file == path or file.endswith("/" + path) for file in self.files)

    def wrong(self, comment):
        """The names in a comment that are nowhere in the tree."""
        paths = [path for path in re.findall(SOURCE, comment) if not self.exists(path)]
        names = re.findall(r"(?<![\w.])(?:[A-Z]\w+::)?([A-Z][a-z]\w+)\(\)", comment)
        names += re.findall(r"`([A-Za-z_]\w*[A-Za-z])`", comment)
        return paths + [name for name in names if name not in self.words | EXTERNAL]

    def test_comments_name_what_exists(self):
        found = []
        for path, text in self.sources.items():
            for number, line in enumerate(text.split("\n"), 1):
                comment = re.search(r"(?<!:)//(.*)", line)
                if comment:
                    found += [f"{path}:{number}: {name}" for name in self.wrong(comment[1])]
        self.assertEqual(found, [])

    def test_pages_name_files_that_exist(self):
        for path in self.files:
            if path.endswith(".md") and not path.startswith("tests/golden/"):
                missing = [name for name in re.findall(SOURCE, read(path)) if not self.exists(name)]
                self.assertEqual(missing, [], path)

    def test_the_rules_find_stale_names(self):
        self.assertEqual(self.wrong("see engine/gone.cc, then Vanish() and `lost_one`, unlike beam.h and `beam_size`"),
                         ["engine/gone.cc", "Vanish", "lost_one"])


if __name__ == "__main__":
    sys.exit(unittest.main())
