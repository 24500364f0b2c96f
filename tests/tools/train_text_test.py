"""What of tools/train is about text and needs no PyTorch; train_test is about the rest."""

import os
import random
import tempfile
import unittest

from toy_text import ToyTextTest  # which finds tools/train

import contractions
import curves
import noise
import text
import vocabulary


class ContractionsTest(unittest.TestCase):

    def test_writes_out_what_has_one_reading(self):
        for text, want in (
                ("I'm a student.", "I am a student."),
                ("Don’t go, we'll wait.", "Do not go, we will wait."),
                ("You can't, and they won't.", "You cannot, and they will not."),
                ("Let's see what you've got.", "Let us see what you have got."),
                ("Why don't we ask?", "Why do we not ask?"),
                ("It's cold, isn't it?", "It's cold, is it not?"),
                ("Can't you?", "Can you not?")):
            self.assertEqual(contractions.write_out(text), want)

    def test_leaves_what_has_several(self):
        for text in ("He's Tom's friend.", "I'd go.", "That ain't so.", "At ten o'clock.",
                     "Doesn't Tom know?", "Why isn't the ship moving?", "rock'n'roll"):
            self.assertEqual(contractions.write_out(text), text)


class NoiseTest(unittest.TestCase):

    def spoiled(self, clean: str) -> set[str]:
        source = random.Random(1)
        return {noise.spoil(clean, source) for _ in range(300)}

    def test_makes_the_faults_of_people(self):
        for clean, faults in (
                ("Kannst du mir helfen, den Satz zu übersetzen?", (
                    "Kannst du mir helfen, den Satz zu übersetzen",
                    "Kannst du mir helfen, den Satz zu übersetzen ?",
                    "Kannst du mir helfen den Satz zu uebersetzen ?",
                    "kannst du mir helfen, den satz zu übersetzen?",
                    "KANNST DU MIR HELFEN, DEN SATZ ZU UEBERSETZEN?")),
                ("Ça va ?", ("Ça va?", "ça va", "Ca va ?", "ÇA VA ?")),
                ("¿Cómo estás?", ("Cómo estás", "¿Como estas?")),
                ("J'ai dit \"non\".", ("J’ai dit “non”.", "j'ai dit \"non\"")),
                ("J’ai dit «non».", ("J'ai dit \"non\".",)),
                ("Über Größe.", ("Ueber Groesse.", "UEBER GROESSE."))):
            self.assertLessEqual(set(faults), self.spoiled(clean))

    def test_a_single_word_stays_one(self):
        self.assertEqual(self.spoiled("Merci."), {"merci.", "MERCI."})
        self.assertEqual(self.spoiled("Mañana"), {"mañana", "Manana", "manana", "MAÑANA", "MANANA"})

    def test_leaves_what_has_no_room_for_faults(self):
        self.assertEqual(self.spoiled("12"), {"12"})


class VocabularyTest(ToyTextTest):

    def test_ids_are_those_of_opus_mt(self):
        pieces = self.vocabulary.pieces
        self.assertEqual(pieces[:2], ["</s>", "<unk>"])
        self.assertEqual(pieces[-3:], [">>deu<<", ">>fra<<", "<pad>"])
        self.assertEqual(len(set(pieces)), len(pieces))
        self.assertEqual(self.vocabulary.pad, len(pieces) - 1)

    def test_a_tag_is_one_token_before_the_text(self):
        ids = self.vocabulary.encode_source("two one", "fra")
        self.assertEqual([self.vocabulary.pieces[i] for i in ids],
                         [">>fra<<", "▁two", "▁one", "</s>"])
        self.assertEqual(self.vocabulary.decode(ids[1:]), "two one")

    def test_what_no_piece_spells_is_unknown(self):
        self.assertIn(vocabulary.UNKNOWN, self.vocabulary.encode(["語"])[0])

    def test_same_text_gives_the_same_file(self):
        path = os.path.join(self.folder, "again.spm")
        sentences = [side for t in self.texts for pair in t.pairs for side in pair]
        vocabulary.train_sentencepiece(sentences, 80, path)
        with open(path, "rb") as again, open(self.vocabulary.path, "rb") as first:
            self.assertEqual(again.read(), first.read())


class SplitTest(unittest.TestCase):

    def texts(self):
        return [text.ParallelText(("eng", "deu"), "a", [(f"e {i}", f"d {i}") for i in range(50)]
                                  + [(f"E, {i}!", f"other {i}") for i in range(50)]),
                text.ParallelText(("eng", "deu"), "b",
                                  [(f"new {i}", f"D {i}.") for i in range(50)]),
                text.ParallelText(("eng", "fra"), "c", [(f"e {i}", f"f {i}") for i in range(50)])]

    def test_what_is_held_out_is_nowhere_in_the_training_text(self):
        result = text.split(self.texts(), test=10, validation=5)
        held = [pair for part in (result.test, result.validation) for pairs in part.values()
                for pair in pairs]
        self.assertEqual(len(held), 2 * 15)
        keys = {text.sentence_key(sentence) for pair in held for sentence in pair}
        for part in result.train:
            self.assertTrue(part.pairs)
            for pair in part.pairs:
                self.assertFalse(keys & set(map(text.sentence_key, pair)), pair)

    def test_what_is_to_be_learned_is_not_held_out(self):
        texts = self.texts()
        held = text.split(texts, test=10, validation=5).test["eng", "deu"]
        phrases = text.ParallelText(("eng", "deu"), "phrases", held[:5], share=20)
        result = text.split(texts + [phrases], test=10, validation=5)
        self.assertEqual(result.train[-1].pairs, held[:5])
        self.assertEqual(result.test["eng", "deu"][:5], held[5:])

    def test_order_of_the_text_does_not_matter(self):
        result = text.split(self.texts(), 10, 5)
        turned = [text.ParallelText(t.languages, t.path, t.pairs[::-1]) for t in self.texts()[::-1]]
        again = text.split(turned, 10, 5)
        self.assertEqual(result.test, again.test)
        self.assertEqual(result.validation, again.validation)

    def test_writes_files_for_evaluation(self):
        with tempfile.TemporaryDirectory() as folder:
            text.write_held_out(text.split(self.texts(), 10, 5), folder)
            self.assertEqual(sorted(os.listdir(folder)), [
                "test.eng-deu.tsv", "test.eng-fra.tsv", "validation.eng-deu.tsv",
                "validation.eng-fra.tsv"])
            with open(os.path.join(folder, "test.eng-fra.tsv"), encoding="utf-8") as file:
                self.assertEqual(len([line.split("\t") for line in file]), 10)

    def test_a_file_names_its_directions(self):
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
            file.write("one\teins\n")
            file.flush()
            for name, directions in (("eng-deu", [("eng", "deu"), ("deu", "eng")]),
                                     ("eng-to-deu@2", [("eng", "deu")]),
                                     ("eng-from-deu@0.5", [("deu", "eng")]),
                                     ("en-to", [("en", "to"), ("to", "en")])):
                read = text.read_parallel_text(f"{name}={file.name}")
                self.assertEqual(read.directions, directions)
                self.assertEqual((read.languages, read.pairs),
                                 (directions[0] if "from" not in name else directions[0][::-1],
                                  [("one", "eins")]))

    def test_says_what_is_wrong(self):
        with self.assertRaisesRegex(text.InputError, "50 distinct pairs, want at least 51"):
            text.split(self.texts()[2:], 50, 1)
        with self.assertRaisesRegex(text.InputError, "none is left to train on"):
            text.split(self.texts()[2:], 49, 1)
        turned = text.ParallelText(("deu", "eng"), "d", [("d 1", "e 1")])
        with self.assertRaisesRegex(text.InputError, "the first language must be the same"):
            text.split(self.texts() + [turned], 1, 1)
        for share in ("0", "1001", "-1", "x", "nan", "", ".", "1.0.0", "1e-3"):
            with self.assertRaisesRegex(text.InputError, "want a share above 0 and at most 1000"):
                text.read_parallel_text(f"eng-deu@{share}=x")
        for flag in ("eng-deu", "eng=x", "eng-by-deu=x", "eng-to-eng=x", "eng-eng=x", "-deu=x",
                     "@0.5=x"):
            with self.assertRaisesRegex(text.InputError, "want LANGUAGE-LANGUAGE=FILE"):
                text.read_parallel_text(flag)
        with self.assertRaisesRegex(text.InputError, "cannot read /nowhere"):
            text.read_parallel_text("eng-deu=/nowhere")


class PatienceTest(unittest.TestCase):

    def test_patience_ends_when_the_loss_no_longer_falls(self):
        for losses, patience, want in (([3.0, 2.0, 1.0], 1, False), ([3.0, 2.0, 2.0], 1, True),
                                       ([3.0, 2.0, 2.5], 2, False), ([2.0, 2.5, 2.1], 2, True),
                                       ([2.0, 3.0], 2, False), ([], 1, False)):
            self.assertEqual(curves.no_longer_falls(losses, patience), want, losses)


if __name__ == "__main__":
    unittest.main()
