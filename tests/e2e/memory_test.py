"""What memory the server keeps: nothing of a burst, and no new page under a steady load."""

import concurrent.futures as futures
import itertools
import re
import unittest

from harness import BUILT_IN, FLOAT32, Server, await_true, instrumented, pb

TEXT = ("The old man went to the station, bought a newspaper and waited for the train, which was "
        "late again because of the snow that had fallen in the night, as it had every winter.")
# Eight of these take some 100 MB of keys and values.
WIDE = pb.DecodingOptions(beam_size=16, min_length=199, max_length=200)
USUAL = pb.DecodingOptions(beam_size=4)


def of_process(server, name):
    with open(f"/proc/{server.process.pid}/{name}", encoding="utf-8") as file:
        return file.read()


def resident_megabytes(server, field="VmRSS"):
    return int(re.search(field + r":\s+(\d+)", of_process(server, "status")).group(1)) / 1024


class Burst:
    """What a burst of work has taken from the system."""

    def __init__(self):
        self.server = Server(*FLOAT32, "--workers", "1")
        texts = [f"{i}. {TEXT}" for i in range(8)]  # of one call, so that they are translated together
        self.server.translate(*texts, options=USUAL)
        self.before = resident_megabytes(self.server)
        self.server.translate(*texts, options=WIDE)
        self.taken = resident_megabytes(self.server, "VmHWM") - self.before  # the peak, whenever it was


burst = None


def setUpModule():
    """Begins with the burst: it takes a while until the memory goes back, which the last class awaits."""
    global burst
    burst = Burst()
    unittest.addModuleCleanup(burst.server.kill)


class MemoryTest(unittest.TestCase):

    def start(self, *arguments):
        self.server = Server(*FLOAT32, "--workers", "1", *arguments)
        self.addCleanup(lambda: self.assertEqual(self.server.stop(), 0))
        self.addCleanup(self.server.channel.close)

    def of_process(self, name):
        return of_process(self.server, name)

    def resident_megabytes(self, field="VmRSS"):
        return resident_megabytes(self.server, field)

    def page_faults(self):
        fields = self.of_process("stat").rsplit(")", 1)[1].split()  # from the state on: field 3
        return int(fields[7]) + int(fields[9])  # minor and major ones

    @unittest.skipIf(instrumented(), "a sanitizer has memory of its own")
    def test_the_small_profile_stays_below_120_megabytes(self):
        self.server = Server("--model", f"en-de-fr-es={BUILT_IN}", "--small")
        self.addCleanup(lambda: self.assertEqual(self.server.stop(), 0))
        self.addCleanup(self.server.channel.close)

        def call(number):
            texts = [f"{number} {part} {TEXT}" for part in range(8)]
            request = pb.TranslateRequest(contents=texts, source_language="en", options=USUAL,
                                          target_language=("de", "fr", "es")[number % 3])
            self.server.translation.Translate(request, timeout=300)

        with futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(call, range(16)))
        self.assertLess(self.resident_megabytes("VmHWM"), 120)

    def test_returns_what_unread_answers_took(self):
        self.start("--cache-bytes", "64MiB")  # so that answers come fast
        request = pb.TranslateRequest(
            contents=[(TEXT + " ") * 40], sentence_splitting=pb.SENTENCE_SPLITTING_SENTENCES,
            options=pb.DecodingOptions(beam_size=4, num_hypotheses=4),
            output=pb.OutputOptions(tokens=True, alignments=True, attention=True))
        self.server.translation.Translate(request, timeout=300)
        before = self.resident_megabytes()
        calls = [self.server.translation.TranslateBulk(itertools.repeat(
            pb.TranslateBulkRequest(id="same", request=request))) for _ in range(12)]
        await_true(lambda: self.unread_megabytes() > 24, "answers wait")
        most = self.unread_megabytes()
        taken = self.resident_megabytes() - before
        for call in calls:
            call.cancel()
        await_true(lambda: self.unread_megabytes() == 0, "nothing waits")
        await_true(lambda: self.resident_megabytes() - before < 0.5 * taken, "it goes back")
        print(f"{most:.0f} MB of unread answers took {taken:.0f} MB beside {before:.0f} MB")
        # Twice 32 MiB, which a call without an unread answer may reach, and those that were in the engine.
        self.assertLess(most, 64 + 24)

    def unread_megabytes(self):
        return self.server.metrics()["dragoman_budget_used"][(("budget", "answers"),)] / (1 << 20)

    def test_touches_no_new_page_under_a_steady_load(self):
        self.start()
        if re.search("lib[at]san", self.of_process("maps")):
            self.skipTest("a sanitizer allocates for itself")
        texts = [f"{i}. {TEXT}" for i in range(16)]
        few, steady, rounds = len(texts), 0, []
        while steady < 3 and len(rounds) < 200:
            before = self.page_faults()
            self.server.translate(*texts, options=USUAL)
            rounds.append(self.page_faults() - before)
            # A thread of gRPC that has not had a call yet may still touch its stack and its heap, and there
            # may be several for each core.
            steady = steady + 1 if rounds[-1] <= few else 0
        print(f"page faults in each round of {len(texts)} sentences: {rounds}")
        self.assertEqual(steady, 3)  # memory that is given back and taken again is thousands


class ReturnedMemoryTest(unittest.TestCase):

    def test_returns_what_a_burst_took(self):
        before, taken = burst.before, burst.taken
        self.assertGreater(taken, 30, "the burst was too small to tell")

        def kept():
            return resident_megabytes(burst.server) - before
        # What was not used for 5 to 10 seconds goes back.
        await_true(lambda: kept() < 0.3 * taken, "the memory goes back")
        print(f"a burst took {taken:.0f} MB beside {before:.0f} MB, and {kept():.0f} MB were kept")
        self.assertEqual(burst.server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
