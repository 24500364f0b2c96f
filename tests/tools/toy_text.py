"""The toy language and a vocabulary of it, for the tests of tools/train."""

import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "train"))

import text
import toy_language
import vocabulary


class ToyTextTest(unittest.TestCase):
    """Tests that need a vocabulary and text."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.flags = toy_language.write(cls.folder, pairs=400)
        cls.texts = [text.read_parallel_text(flag) for flag in cls.flags[1::2]]
        sentences = [side for t in cls.texts for pair in t.pairs for side in pair]
        path = os.path.join(cls.folder, "toy.spm")
        vocabulary.train_sentencepiece(sentences, 80, path)
        cls.vocabulary = vocabulary.Vocabulary(path, ["deu", "fra"])
