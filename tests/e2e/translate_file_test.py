"""dragoman translate-file against the real server: whole files, and runs that are killed."""

import json
import os
import signal
import subprocess
import tempfile
import unittest

from harness import CLIENT, FLOAT32, ServerTest, await_true, golden_inputs


GREEDY = ("--beam-size", "1")  # where the translations do not matter


class TranslateFileTest(ServerTest):

    arguments = (*FLOAT32, "--max-characters", "1000")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def command(self, *arguments):
        return [CLIENT, "translate-file", "--server", self.server.grpc_address, "-t", "de",
                "--no-split-sentences", *arguments]

    def run_client(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=300,
                              check=False)

    def test_paragraphs_are_translated_and_the_rest_is_kept(self):
        inputs = golden_inputs()
        between = ["\n\n", "\n\n\n", "\n \t\n\n"]
        text = "".join(i["text"] + between[n % 3] for n, i in enumerate(inputs))
        want = "".join(i["beam4"][0]["text"] + between[n % 3] for n, i in enumerate(inputs))
        ended = self.run_client(self.write("a.txt", text), "--report", "json")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(self.read("a.de.txt"), want)
        report = json.loads(ended.stdout)
        self.assertEqual((report["segments"], report["untranslated_segments"]), (len(inputs), 0))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.de.txt", "a.txt"])

    def killed(self, source, lines):
        """Runs until there are so many translations; whether it was killed before its end."""
        process = subprocess.Popen(self.command(source, self.path("b.txt"), *GREEDY), stdout=subprocess.DEVNULL)
        journal = self.path("b.txt.part")
        await_true(lambda: process.poll() is not None or os.path.exists(journal)
                   and self.read("b.txt.part").count("\n") > lines, f"{lines} translations")
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def test_a_run_that_was_killed_goes_on(self):
        inputs = golden_inputs()
        for copies in (4, 16, 64, 256):  # a machine that is too fast to be caught gets a longer book
            text = "".join(f"{i['text']} ({n}/{m})\n\n" for m in range(copies) for n, i in enumerate(inputs))
            source = self.write("book.txt", text)
            if all([self.killed(source, lines) for lines in (20, 200, 400)]):
                break
            for name in os.listdir(self.folder):
                os.remove(self.path(name))
        self.assertFalse(os.path.exists(self.path("b.txt")))
        self.assertEqual(self.run_client(source, self.path("whole.txt"), *GREEDY).returncode, 0)
        ended = self.run_client(source, self.path("b.txt"), *GREEDY, "--report", "json")
        self.assertEqual(ended.returncode, 0, ended.stderr)  # which warns of numbers that are missing
        self.assertGreater(json.loads(ended.stdout)["earlier_segments"], 20)
        with open(self.path("whole.txt"), "rb") as whole, open(self.path("b.txt"), "rb") as resumed:
            self.assertEqual(whole.read(), resumed.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["b.txt", "book.txt", "whole.txt"])

    def test_a_passage_over_the_limits_is_named_and_stays(self):
        source = self.write("a.txt", "One.\n\nTwo.\n\n" + "word " * 300 + "\n\nThree.\n")
        ended = self.run_client(source)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("a.txt, line 5: ", ended.stderr)
        self.assertIn("1000", ended.stderr)
        self.assertIn("1 untranslated", ended.stdout)
        self.assertIn("word word", self.read("a.de.txt"))
        self.assertNotIn("Three", self.read("a.de.txt"))


if __name__ == "__main__":
    unittest.main()
