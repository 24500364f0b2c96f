"""Files of others, from packages of public registries, translated and judged by independent parsers (judges.py).

Of each format at least nine of ten must be right, and every other one is explained in EXPLAINED.
DRAGOMAN_CORPUS=DIRECTORY keeps what was fetched.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from concurrent import futures

import fetch
import judges
from harness import CLIENT, SOURCE_DIR, Server

# The ends of the names of files that are refused, or not right, and why.
EXPLAINED = {
    # CommonMark takes what is indented in an admonition ("!!! note") for code; Python-Markdown, whose text it is, does not.
    "markdown__docs_contributing.md",
    "markdown__docs_extensions_legacy_em.md",
    # Refused: an entity of another file, a byte order mark within the file, no WEBVTT, encodings that nothing declares,
    # quotes that are escaped by backslashes, and a program before the array.
    "odfpy__tests_examples_nasty.odt",
    "polib__tests_test_ufeff.po",
    "webvtt-py__tests_samples_invalid.vtt",
    "srt__srt_tools_tests_files_gb2312.srt",
    "aspasia__tests_data_gbk.srt",
    "csv__examples_data_strange.csv",
    "php-with-one-invalid-file_en_invalid.php",
    # Refused: property lists in binary.
    "es.lproj_QBImagePicker.strings",
    "pl.lproj_QBImagePicker.strings",
    # Five words in six tags: one has nothing left to stand around, and goes.
    "webvtt-py__tests_samples_youtube_dl.vtt",
}

# Of these formats, fewer than fetch.MOST_OF_FORMAT files were found in packages of the four registries: few of today's
# packages have the files of their tests in them.
FEWER = {"arb", "ass", "epub", "resx", "stringsdict", "tsv"}


class CorpusTest(unittest.TestCase):

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.files = os.environ.get("DRAGOMAN_CORPUS", os.path.join(folder.name, "files"))
        cls.outputs = os.path.join(folder.name, "outputs")
        fetch.main(cls.files)
        model = os.path.join(SOURCE_DIR, "models/en-de-fr-es")
        cls.server = Server("--model", f"en-de-fr-es={model}", "--pivot", "en")
        cls.addClassCleanup(cls.server.stop)

    def faults(self, kind, name):
        """What is wrong with the translation of a file; none if the file was no good."""
        stem, suffix = name.rsplit(".", 1)
        source, target = name.split("__")[0], "de" if name.startswith("en__") else "en"
        output = os.path.join(self.outputs, kind, f"{stem}.{target}.{suffix}")
        columns = ["--columns", ",".join(map(str, range(1, 100)))]
        flags = {"android": ["--format", "android"], "csv": columns, "tsv": columns}
        ended = subprocess.run(
            [CLIENT, "translate-file", "--server", self.server.grpc_address, "-s", source, "-t", target,
             *flags.get(kind, []), "--output-directory", os.path.dirname(output), os.path.join(self.files, kind, name)],
            capture_output=True, text=True, timeout=600, check=False)
        if not os.path.exists(output):
            return [f"is refused: {ended.stderr.strip()[-300:]}"]
        with open(os.path.join(self.files, kind, name), "rb") as source, open(output, "rb") as target:
            try:
                return judges.faults(kind, source.read(), target.read())
            except judges.Unfit:
                return []

    def test_nine_files_of_ten_are_right_and_the_others_are_explained(self):
        unexplained, right = [], {}
        for kind in sorted(set(fetch.FORMATS.values())):
            names = sorted(os.listdir(os.path.join(self.files, kind)))
            with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                results = list(pool.map(lambda name, kind=kind: self.faults(kind, name), names))
            wrong = [(name, faults) for name, faults in zip(names, results) if faults]
            right[kind] = (len(names) - len(wrong), len(names))
            unexplained += [f"{kind} {name}: {'; '.join(faults[:3])}" for name, faults in wrong
                            if not name.endswith(tuple(EXPLAINED))]
        print("\n".join(f"{kind}: {good} of {all_} right" for kind, (good, all_) in right.items()), file=sys.stderr)
        self.assertEqual("\n".join(unexplained), "")
        self.assertEqual({kind for kind, (_, all_) in right.items() if all_ < fetch.MOST_OF_FORMAT}, FEWER)
        self.assertEqual([kind for kind, (good, all_) in right.items() if good < 0.9 * all_ and all_ >= 10], [])
