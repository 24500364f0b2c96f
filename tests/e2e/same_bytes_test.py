"""The first promise: a translation does not depend on what else the server is doing."""

import queue
import random
import threading
import unittest

from harness import MODEL, ServerTest, golden_inputs, pb, pb_grpc, seed

OPTIONS = pb.DecodingOptions(beam_size=4, num_hypotheses=4)
OUTPUT = pb.OutputOptions(tokens=True, token_scores=True, sentence_spans=True)


class SameBytes:
    """The checks, for every precision."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.texts = [i["text"] for i in golden_inputs()]
        cls.alone = [cls.answers([text])[0] for text in cls.texts]

    @classmethod
    def answers(cls, texts, stub=None):
        """Returns the translations, each as bytes: texts, tokens, scores and everything else."""
        response = (stub or cls.server.translation).Translate(
            pb.TranslateRequest(contents=texts, options=OPTIONS, output=OUTPUT,
                                sentence_splitting=pb.SENTENCE_SPLITTING_NONE), timeout=300)
        return [t.SerializeToString(deterministic=True) for t in response.translations]

    def test_64_at_once(self):
        together = []
        for first in range(0, len(self.texts), 64):
            together += self.answers(self.texts[first:first + 64])
        self.assertEqual(together, self.alone)

    def test_in_random_order_by_8_clients(self):
        order = list(range(len(self.texts)))
        random.Random(seed()).shuffle(order)
        work = queue.SimpleQueue()
        for place in order:
            work.put(place)
        got = [None] * len(self.texts)

        def client():
            with self.server.new_channel() as channel:
                stub = pb_grpc.TranslationServiceStub(channel)
                while True:
                    try:
                        place = work.get_nowait()
                    except queue.Empty:
                        return
                    got[place] = self.answers([self.texts[place]], stub)[0]

        clients = [threading.Thread(target=client) for _ in range(8)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        self.assertEqual(got, self.alone)


class Float32Test(SameBytes, ServerTest):

    def test_the_translations_are_those_of_hugging_face(self):
        self.assertEqual(len(self.texts), 200)
        got = [pb.Translation.FromString(a).hypotheses[0].text for a in self.alone]
        self.assertEqual(got, [i["beam4"][0]["text"] for i in golden_inputs()])


class AutoPrecisionTest(SameBytes, ServerTest):

    arguments = ("--model", f"en-de={MODEL}")


if __name__ == "__main__":
    unittest.main()
