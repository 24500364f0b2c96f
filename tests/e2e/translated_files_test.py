"""Translations of files, judged by other programs and by what the files had before: the samples of tests/documents.

The programs are msgfmt and xmllint, and ffprobe in the optional part.
"""

import collections
import json
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

import yaml

from harness import BUILT_IN, CLIENT, SOURCE_DIR, ServerTest
from suite import optional

DATA = os.path.join(SOURCE_DIR, "tests", "documents", "data")
CONTAINERS = (".docx", ".odt", ".epub", ".pptx", ".odp", ".xlsx", ".ods")
XML = (".dita", ".resx", ".stringsdict", ".tmx", ".ts", ".xlf", ".xml")


def elements(xml, without=()):
    """How many elements there are of each name, except in those of these names (without their namespaces)."""
    counts = collections.Counter()

    def count(element):
        if re.sub("{.*}", "", element.tag) in without:
            return
        counts[element.tag] += 1
        for child in element:
            count(child)

    count(ElementTree.fromstring(xml))
    return counts


def members(path):
    """The names and contents of a zip, in order."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def keys(value):
    """The value without its strings."""
    if isinstance(value, dict):
        return {key: keys(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [keys(inner) for inner in value]
    return None if isinstance(value, str) else value


class TranslatedFilesTest(ServerTest):

    arguments = ("--model", f"en-de-fr-es={BUILT_IN}")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup((folder := tempfile.TemporaryDirectory()).cleanup)
        cls.folder = folder.name
        ended = subprocess.run(
            [CLIENT, "translate-file", "--server", cls.server.grpc_address, "-s", "en", "-t", "de", "--columns", "text",
             DATA, "--output-directory", cls.folder], capture_output=True, text=True, timeout=600, check=False)
        assert ended.returncode == 0, ended.stderr
        cls.pairs = {name: (os.path.join(DATA, name), os.path.join(cls.folder, ".de".join(os.path.splitext(name))))
                     for name in sorted(os.listdir(DATA))}

    def having(self, *endings):
        """The name, the source and the translation of each sample whose name ends so."""
        found = [(name, *pair) for name, pair in self.pairs.items() if name.endswith(endings)]
        self.assertGreaterEqual(len(found), len(endings))
        return found

    def ask(self, *command):
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_every_sample_is_translated(self):
        for name, (source, translation) in self.pairs.items():
            with open(source, "rb") as old, open(translation, "rb") as new:
                self.assertNotEqual(old.read(), new.read(), name)

    def test_xml_keeps_its_elements(self):
        translations = ("target", "tuv", "numerusform")
        for name, source, translation in self.having(*XML):
            before, after = (self.read(path).replace("&nbsp;", " ") for path in (source, translation))
            self.assertEqual(elements(after.encode(), without=translations),
                             elements(before.encode(), without=translations), name)

    def test_xmllint_reads_xml(self):
        self.ask("xmllint", "--noout", *(translation for _, _, translation in self.having(*XML)))

    def test_msgfmt_accepts_a_catalogue(self):
        for _, _, translation in self.having(".po"):
            ended = self.ask("msgfmt", "--check", "--statistics", "-o", os.devnull, translation)
            self.assertNotIn("untranslated", ended.stderr)

    @optional
    def test_ffmpeg_reads_subtitles(self):
        for _, source, translation in self.having(".srt", ".vtt"):
            def cues(path):
                packets = self.ask("ffprobe", "-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of",
                                   "csv", path)
                self.assertEqual(packets.stderr, "")
                return packets.stdout
            self.assertEqual(cues(source), cues(translation))

    def test_keys_stay(self):
        for _, source, translation in self.having(".json", ".arb"):
            self.assertEqual(keys(json.loads(self.read(source))), keys(json.loads(self.read(translation))))
        for _, source, translation in self.having(".yml"):
            before, after = (yaml.safe_load(self.read(path)) for path in (source, translation))
            self.assertEqual(keys(before["en"]), keys(after["de"]))

    def test_containers_keep_their_members_and_elements(self):
        # Of runs that look equal one is left.
        runs = re.compile(r"{[^}]*}(r|rPr|t|span|lang|proofErr|noProof|sz|szCs|rFonts|b|bCs|i|iCs|color|s)$")
        for name, source, translation in self.having(*CONTAINERS):
            before, after = members(source), members(translation)
            self.assertEqual(list(before), list(after), name)
            changed = [member for member in before if before[member] != after[member]]
            self.assertTrue(changed, name)
            for member in changed:
                old, new = elements(before[member]), elements(after[member])
                for tag in old.keys() | new.keys():
                    if not runs.match(tag):
                        self.assertEqual(new[tag], old[tag], (name, member, tag))

    def test_a_book_is_a_book(self):
        for _, _, translation in self.having(".epub"):
            with zipfile.ZipFile(translation) as archive:
                first = archive.infolist()[0]
                self.assertEqual((first.filename, first.compress_type), ("mimetype", zipfile.ZIP_STORED))
                self.assertEqual(archive.read(first), b"application/epub+zip")
                names = set(archive.namelist())
                package = ElementTree.fromstring(archive.read("META-INF/container.xml")).find(
                    ".//{*}rootfile").get("full-path")
                root = ElementTree.fromstring(archive.read(package))
                self.assertEqual(root.find(".//{*}language").text, "de")
                for item in root.iter("{http://www.idpf.org/2007/opf}item"):
                    self.assertIn(os.path.normpath(os.path.join(os.path.dirname(package), item.get("href"))), names)


if __name__ == "__main__":
    unittest.main()
