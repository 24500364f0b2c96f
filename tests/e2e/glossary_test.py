"""Stored glossaries of a whole server: the command, files that others put there, and ends without warning."""

import functools
import os
import unittest

import grpc
from harness import BUILT_IN, await_true, pb, pb_grpc, serve
from kept_things import KeptThingsTest


class GlossaryTest(KeptThingsTest):
    FLAG = "--glossary-files"

    def test_the_command_stores_and_uses_a_glossary(self):
        server = self.serve()
        dragoman = functools.partial(self.dragoman, server)
        path = self.write("terms.tsv", "house\tHeim\tHeims\nLondon\n")
        made = dragoman("glossary", "create", "-s", "en", "-t", "de", "--name", "Houses", path)
        self.assertRegex(made, r"Houses +en-de +2 +1 ")
        name = made.splitlines()[1].split()[0]
        self.assertIn(name, dragoman("glossary", "list", "--output=json"))
        self.assertEqual(dragoman("glossary", "get", name), "house\tHeim\tHeims\nLondon\n")
        text = dragoman("translate", "--glossary-max-loss", "100", "--glossary-id", name, "The house is old.")
        self.assertRegex(text, r"\bHeims?\b")
        self.assertRegex(dragoman("glossary", "create", "--replace", name, path), rf"{name} .* 2 ")
        dragoman("glossary", "delete", name)
        self.assertNotIn(name, dragoman("glossary", "list", "--output=json"))

    def test_the_command_reads_csv(self):
        server = self.serve()
        dragoman = functools.partial(self.dragoman, server)
        for csv, entries in (
            ("\ufeff\"house, big\",\"Villa\"\r\ncat,Kater\r\n", "house, big\tVilla\ncat\tKater\n"),
            ("house;Heim;Heims\nLondon\n", "house\tHeim\tHeims\nLondon\n"),
            ("sep=,\nhouse,\"a \"\"b\"\"\"\n", "house\ta \"b\"\n"),
            ("house,Heim,EN,DE\ncat,chat,EN,FR\n", "house\tHeim\ncat\tchat\n"),
            ("Source,Target,SourceLang,TargetLang\nhouse,Heim,EN,DE\n", "house\tHeim\n"),
            ("term,translation,from,to\nhouse,Heim,EN,DE\n", "house\tHeim\n"),
            ("source;target\nhouse;Heim\n", "house\tHeim\n"),
        ):
            made = dragoman("glossary", "create", self.write("terms.csv", csv))
            name = made.splitlines()[1].split()[0]
            self.assertEqual(dragoman("glossary", "get", name), entries)

    def test_a_term_takes_the_place_of_the_models_own_word(self):
        server = serve(self, "--model", f"en-de={BUILT_IN}")
        request = pb.TranslateRequest(contents=["The house is old."], source_language="en", target_language="de")
        request.options.glossary.add(source="house", target="Bauwerk")
        answer = pb_grpc.TranslationServiceStub(server.channel).Translate(request, timeout=120)
        text = answer.translations[0].hypotheses[0].text
        self.assertIn("Bauwerk", text)
        self.assertNotIn("Haus", text)

    def test_a_file_that_somebody_puts_there_is_used(self):
        server = self.serve()
        os.rename(self.write("new", "house\tHeim\n"), os.path.join(self.directory, "houses.tsv"))

        def is_used():
            try:
                answer = server.translate("The house is old.", glossary_ids=["houses"],
                                          options=pb.DecodingOptions(glossary_max_loss=100))
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.NOT_FOUND)
                return False
            self.assertIn("Heim", answer.translations[0].hypotheses[0].text)
            return True

        await_true(is_used, "the glossary is found")

    def test_a_server_that_is_killed_has_whole_glossaries(self):
        """Whatever was answered is there, and what was not is there as a whole or not at all."""
        entries = [pb.GlossaryEntry(source=f"house {i}", target="Haus") for i in range(5000)]
        answered, version = set(), {}
        for turn in range(4):
            server = self.serve()
            listed = server.glossaries.ListGlossaries(pb.ListGlossariesRequest(), timeout=60).glossaries
            self.assertLessEqual(answered, {glossary.id for glossary in listed})
            for glossary in listed:
                self.assertEqual(glossary.dictionaries[0].entry_count, 5000)
                self.assertGreaterEqual(glossary.version, version.get(glossary.id, 1))
            if turn == 3:
                break

            def write():
                glossary = pb.Glossary(name="x", dictionaries=[pb.GlossaryDictionary(entries=entries)])
                made = server.glossaries.CreateGlossary(pb.CreateGlossaryRequest(glossary=glossary))
                answered.add(made.id)
                made = server.glossaries.ReplaceGlossary(pb.ReplaceGlossaryRequest(id=made.id, glossary=glossary))
                version[made.id] = made.version

            self.kill_during(server, write)
        self.assertGreaterEqual(len(answered), 3)


if __name__ == "__main__":
    unittest.main()
