"""tools/evaluate against the figures in sacreBLEU's README and tests (test_bleu.py, test_chrf.py)."""

import contextlib
import io
import json
import lzma
import math
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "evaluate"))

import evaluate
import metrics


def bleu(translation, reference):
    return metrics.bleu([translation], [[reference]])


class BleuTest(unittest.TestCase):

    def test_the_example_of_sacrebleus_readme(self):
        references = (("The dog bit the man.", "The dog had bit the man."),
                      ("It was not unexpected.", "No one was surprised."),
                      ("The man bit him first.", "The man had bitten the dog."))
        translations = ("The dog bit the man.", "It wasn't surprising.",
                        "The man had just bitten him.")
        score = metrics.bleu(translations, references)
        self.assertAlmostEqual(score.score, 48.530827, places=6)
        self.assertAlmostEqual(metrics.bleu(("", "", ""), references).score, 0.0)

    def test_orders_without_a_match_count_half_a_quarter_and_so_on(self):
        # Counts 4 2 1 0 of 6 5 4 3 (sacreBLEU's test_statistics).
        score = bleu("am I am a character sequence", "I am a symbol string sequence a a")
        want = (math.exp(1 - 8 / 6) * (4 / 6 * 2 / 5 * 1 / 4 * 1 / (2 * 3)) ** 0.25) * 100
        self.assertAlmostEqual(score.score, want)
        score = bleu("a b d c", "a c b d x")  # 4 1 0 0 of 4 3 2 1
        want = (math.exp(1 - 5 / 4) * (1 * 1 / 3 * 1 / (2 * 2) * 1 / (4 * 1)) ** 0.25) * 100
        self.assertAlmostEqual(score.score, want)

    def test_too_short_for_all_orders_is_zero(self):
        self.assertEqual(bleu("a test", "a test").score, 0.0)  # no effective order
        self.assertAlmostEqual(bleu("this is a test", "this is a test").score, 100.0)

    def test_tokenization_13a(self):
        for text, words in (
                ("Hello, world!", "Hello , world !"),
                ("It costs 1,234.56 $ (net).", "It costs 1,234.56 $ ( net ) ."),
                ("in 1990-91, at 10%", "in 1990 - 91 , at 10 %"),
                ("well-known &quot;A&amp;B&quot; &lt;x&gt;", 'well-known " A & B " < x >'),
                ("<skipped>don't  stop...", "don't stop . . .")):
            self.assertEqual(metrics.tokenize_13a(text), words.split())


class ChrfTest(unittest.TestCase):

    def test_what_sacrebleus_tests_expect(self):
        for translation, reference, want in (
                (["a"], ["a"], 1.0), (["abcdefg"], ["hijklmnop"], 0.0), ([""], ["reference"], 0.0),
                (["a b c"], ["abc"], 1.0), (["a", "b"], ["a", "c"], 0.5), (["aa"], ["ab"], 0.25),
                ([" Die    Beziehung zwischen  Obama und Netanjahu ist nicht gerade  freundlich. "],
                 ["Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich."],
                 0.64130269831561459),
                ([" risk assessment must be made of those who are qualified and expertise in the "
                  "sector - these are the scientists ."],
                 ["risk assessment has to be undertaken by those who are qualified and expert in "
                  "that area - that is the scientists ."], 0.63361730303214769)):
            self.assertAlmostEqual(metrics.chrf(translation, reference, beta=3), 100 * want)

    def test_beta_two_weighs_recall_four_times(self):
        # Precision 1, 1/1 ...; recall 3/6, 2/5, 1/4 of the three orders that both have.
        recall = (3 / 6 + 2 / 5 + 1 / 4) / 3
        self.assertAlmostEqual(metrics.chrf(["abc"], ["abcdef"]), 100 * 5 * recall / (4 + recall))


class WordErrorRateTest(unittest.TestCase):

    def test_counts_insertions_deletions_and_replacements(self):
        for translation, reference, errors, words in (
                ("the cat sat on the mat", "the cat sat on the mat", 0, 6),
                ("the cat sit on the", "the cat sat on the mat", 2, 6),
                ("hello duck", "hello world", 1, 2),
                ("a b c d", "b c d e", 2, 4),
                ("", "two words", 2, 2),
                ("one of many more", "one", 3, 1)):
            self.assertAlmostEqual(metrics.word_error_rate([translation], [reference]), 100 * errors / words)

    def test_long_sentences_weigh_more(self):
        self.assertAlmostEqual(metrics.word_error_rate(["a", "b c d"], ["x", "b c d"]), 25.0)
        self.assertEqual(metrics.word_error_rate([""], [""]), 0.0)


def client_line(source, text, ids):
    return json.dumps({"source": source, "source_tokens": 3, "truncated": False, "hypotheses": [
        {"text": text, "token_ids": ids, "finish_reason": "eos"}]})


class EvaluateTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.pairs = self.write("pairs.tsv", "one two\teins zwei drei vier\nthree\tdrei\n")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with (lzma.open if name.endswith(".xz") else open)(path, "wt", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_evaluate(self, *arguments):
        """Exit code, standard output and standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = evaluate.main(arguments)
        return code, out.getvalue(), err.getvalue()

    def report(self, *arguments):
        code, out, err = self.run_evaluate(*arguments, "--output", "json")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_a_file_of_text(self):
        translations = self.write("out.txt", "eins zwei drei vier\ndrei\n")
        report = self.report("--pairs", self.pairs, "--translations", translations)
        self.assertAlmostEqual(report["bleu"], 100.0)
        self.assertAlmostEqual(report["chrf2"], 100.0)
        self.assertEqual(report["word_error_rate"], 0.0)
        self.assertEqual(report["words"]["reference"], {"mean": 2.5, "p50": 1, "p90": 4, "max": 4})
        code, out, _ = self.run_evaluate("--pairs", self.pairs, "--translations", translations)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"bleu +100\.00\n")

    def test_samples_are_the_first_translations(self):
        translations = self.write("out.txt", "eins *zwei*\ndrei\n")
        code, out, _ = self.run_evaluate("--pairs", self.pairs, "--translations", translations,
                                         "--samples", "1")
        self.assertEqual(code, 0)
        self.assertEqual(out, "| source | translation | reference |\n| --- | --- | --- |\n"
                              "| one two | eins \\*zwei\\* | eins zwei drei vier |\n")

    def test_the_client_is_asked_and_timed(self):
        lines = [client_line("one two", "eins zwei drei vier", [5, 6, 7, 8]),
                 client_line("three", "vier", [9])]
        answers = self.write("answers", "\n".join(lines) + "\n")
        client = self.write("client", f'#!/bin/sh\necho "$@" > {self.folder}/arguments\n'
                                      f"cat > {self.folder}/input; cat {answers}\n")
        os.chmod(client, 0o755)
        saved = os.path.join(self.folder, "saved")
        report = self.report("--pairs", self.pairs, "--client", client, "--server", "here:1",
                             "--target-language", "deu", "--beam-size", "4", "--save", saved)
        self.assertEqual(evaluate.read_lines(f"{self.folder}/arguments"),
                         ["translate --output json --no-split-sentences --server here:1 "
                          "--target-language deu --beam-size 4"])
        self.assertEqual(evaluate.read_lines(f"{self.folder}/input"), ["one two", "three"])
        self.assertEqual(evaluate.read_lines(saved), lines)
        self.assertEqual(report["tokens"]["translation"]["mean"], 2.5)
        self.assertGreater(report["sentences_per_second"], 0)

    def test_two_runs_are_compared_by_texts_and_tokens(self):
        ours = self.write("ours", client_line("a", "x", [1, 2, 3, 4]) + "\n"
                          + client_line("b", "y", [5]) + "\n")
        theirs = self.write("theirs", client_line("a", "z", [1, 9, 3]) + "\n"
                            + client_line("b", "y", [5]) + "\n")
        report = self.report("--pairs", self.pairs, "--translations", ours, "--compare", theirs)
        self.assertEqual(report["agreement"], {"same_texts": 0.5, "same_tokens": 3 / 5})

    def test_reads_compressed_pairs_in_either_direction(self):
        pairs = self.write("pairs.tsv.xz", "a\tb\textra\nc\td\n")
        self.assertEqual(evaluate.read_pairs(pairs), (["a", "c"], ["b", "d"]))
        self.assertEqual(evaluate.read_pairs(pairs, reverse=True), (["b", "d"], ["a", "c"]))

    def test_says_what_is_wrong(self):
        short = self.write("short", "eins\n")
        for arguments, message in (
                (("--pairs", "/nowhere"), "cannot read /nowhere"),
                (("--pairs", short), "short:1: has no tab"),
                (("--pairs", self.write("empty", "")), "has no pairs"),
                (("--pairs", self.pairs, "--translations", short), "has 1 translations, want 2"),
                (("--pairs", self.pairs, "--client", "/nowhere"), "cannot run /nowhere"),
                (("--pairs", self.pairs, "--client", "/bin/false"), "exit code 1")):
            code, _, err = self.run_evaluate(*arguments)
            self.assertEqual(code, 1)
            self.assertIn(message, err)


if __name__ == "__main__":
    unittest.main()
