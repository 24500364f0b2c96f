"""Translation memories of a whole server: the command, TMX, and ends without warning."""

import functools
import json
import os
import unittest

import grpc
from harness import pb
from kept_things import KeptThingsTest


class TranslationMemoryTest(KeptThingsTest):
    FLAG = "--memory-files"

    def test_the_command_imports_uses_teaches_and_exports(self):
        server = self.serve()
        dragoman = functools.partial(self.dragoman, server)
        path = self.write("approved.tsv", "# comment\nThe house is old.\tSTORED\n\\# 1\tZwei\tbefore\t\n")
        made = dragoman("tm", "import", "-s", "en", "-t", "de", "--name", "Houses", path)
        self.assertRegex(made, r"Houses +en-de +2 +2 +yes")
        name = made.splitlines()[1].split()[0]
        self.assertEqual(dragoman("translate", "--memory-id", name, "The house is old."), "STORED\n")
        dragoman("tm", "learn", name, "The house is old.", "LEARNED")
        answer = json.loads(dragoman("translate", "--output", "json", "--memory-id", name, "The house is old."))
        self.assertEqual(answer["hypotheses"][0]["text"], "LEARNED")
        self.assertEqual(answer["memory_matches"][0]["kind"], "exact")
        self.assertEqual(answer["memory_matches"][0]["memory_version"], 3)
        table = "\\# 1\tZwei\tbefore\t\nThe house is old.\tLEARNED\n"
        self.assertEqual(dragoman("tm", "export", name), table)
        other = dragoman("tm", "import", self.write("copy.tmx", dragoman("tm", "export", "--tmx", name)))
        self.assertRegex(other, r"copy.tmx +en-de +2 ")
        other = other.splitlines()[1].split()[0]
        self.assertEqual(dragoman("tm", "export", other), table)
        dragoman("tm", "delete", other)
        listed = dragoman("tm", "list", "--output=json")
        self.assertIn(name, listed)
        self.assertNotIn(other, listed)

    def test_a_large_file_is_imported_in_parts(self):
        server = self.serve()
        path = self.write("large.tsv", "".join(f"House number {i} is old.\tHaus {i}\n" for i in range(2500)))
        made = self.dragoman(server, "tm", "import", path)
        self.assertRegex(made, r" 2500 +4 ")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(self.dragoman(server, "tm", "export", made.splitlines()[1].split()[0]), file.read())

    def test_a_damaged_file_is_told(self):
        with open(os.path.join(self.directory, "bad.tsv"), "w", encoding="utf-8") as file:
            file.write("# bytes: 26 0123456789abcdef\nSecret 1 1.\tGeheim.\nNo target.\n")
        server = self.serve()
        learn = pb.LearnSegmentsRequest(id="bad", segments=[pb.MemorySegment(source="New.", target="Neu.")])
        for call in (lambda: server.memories.LearnSegments(learn, timeout=60),
                     lambda: server.translate("Secret 1 1.", memory_ids=["bad"])):
            with self.assertRaises(grpc.RpcError) as raised:
                call()
            self.assertEqual(raised.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
            self.assertRegex(raised.exception.details(), r"bad\.tsv: line \d+, byte \d+: .* damaged: want ")
        code, _, ready = server.http("/readyz")
        self.assertEqual(code, 200)
        self.assertIn("bad.tsv: line ", ready)
        log = server.await_log("translation memories not all loaded")
        self.assertIn("bad.tsv: line ", log)
        self.assertNotIn("Secret", log + ready)

    def test_a_server_that_is_killed_keeps_what_it_answered(self):
        """Each lesson has a hundred segments: whatever was answered is there, and none is there in part."""
        answered, name = 0, None
        for turn in range(4):
            server = self.serve()
            if name is None:
                name = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
            memory = server.memories.GetMemory(pb.GetMemoryRequest(id=name), timeout=60)
            self.assertEqual(memory.segment_count, 100 * (memory.version - 1))
            self.assertGreaterEqual(memory.version - 1, answered)
            if turn == 3:
                break
            answered = memory.version - 1

            def learn():
                nonlocal answered
                lesson = [pb.MemorySegment(source=f"Lesson {turn} {answered}, sentence {i}.", target="x" * 500)
                          for i in range(100)]
                answered = server.memories.LearnSegments(
                    pb.LearnSegmentsRequest(id=name, segments=lesson)).version - 1

            self.kill_during(server, learn)
        self.assertGreaterEqual(answered, 3)


if __name__ == "__main__":
    unittest.main()
