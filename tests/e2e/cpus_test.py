"""The programs on CPUs that this machine is not: CMake runs this test in QEMU as well, once for each of its CPUs.

All of them give the same texts as this machine's own CPU.  QEMU takes a second for what a CPU does in thirty
milliseconds, so there are few sentences."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request

import harness

# What multiplies bytes on each CPU; two names if it depends on the version of Highway.
KERNELS = {
    "cortex-a72": {"neon"},
    "neoverse-n1": {"neon_dotprod"},
    "neoverse-v1": {"neon_i8mm"},
    "max": {"neon_i8mm"},  # all that QEMU has, of 64-bit ARM
    "Haswell": {"avx2"},
    "Nehalem": {"ssse3"},
    "Penryn": {"ssse3"},
    "Opteron_G1": {"scalar", "sse2"},  # 2003: the first with 64 bits, so the least that there is
}
CPU = os.environ.get("QEMU_CPU")

# (target, text, translation)
SENTENCES = [
    ("de", "Good morning! How are you?", "Guten Morgen! Wie geht es dir?"),
    ("de", "The weather is nice today.", "Das Wetter ist heute schön."),
    ("en", "Kannst du mir helfen diesen Satz zu uebersetzen ?", "Can you help me translate this sentence?"),
    ("es", "You are welcome.", "De nada."),
    ("fr", "Where is the nearest train station?", "Où est la gare la plus proche ?"),
]
SMALL = os.path.join(harness.SOURCE_DIR, "tests/golden/models/marian-trained")


class CpusTest(harness.ServerTest):

    arguments = ("--model", f"en-de-fr-es={harness.BUILT_IN}", "--pivot", "en")

    def test_uses_what_the_cpu_has(self):
        said = harness.run_server("--machine")
        self.assertEqual(said.returncode, 0, said.stderr)
        int8, = re.findall(r"^int8 +native (\w+)", said.stdout, re.M)
        if CPU:
            self.assertIn(int8, KERNELS[CPU])

    def test_translates_over_grpc(self):
        for target, text, translation in SENTENCES:
            answer = self.server.translate(text, target_language=target)
            self.assertEqual(answer.translations[0].hypotheses[0].text, translation)

    def test_translates_over_http(self):
        target, text, translation = SENTENCES[0]
        request = urllib.request.Request(
            f"http://{self.server.http_address}/v1/translate",
            json.dumps({"contents": [text], "targetLanguage": target}).encode(), {"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=120) as response:
            answer = json.load(response)
        self.assertEqual(answer["translations"][0]["hypotheses"][0]["text"], translation)

    def test_the_command_translates(self):
        target, text, translation = SENTENCES[1]
        ended = subprocess.run([harness.CLIENT, "translate", "--server", self.server.grpc_address, "--deadline", "120",
                                "--target-language", target, text],
                               capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((ended.returncode, ended.stdout), (0, translation + "\n"), ended.stderr)

    def test_reloads(self):
        text = "Anna buys the red apple today."
        with tempfile.TemporaryDirectory() as directory:
            small = os.path.join(directory, "small")
            shutil.copytree(SMALL, small)
            server = harness.serve(self, "--model", f"small={small}")
            answer = server.translate(text)
            with open(os.path.join(small, "generation_config.json"), "a", encoding="utf-8") as file:
                file.write("\n")  # another version with the same translations
            server.process.send_signal(signal.SIGHUP)
            harness.await_true(lambda: server.translate(text).model_version != answer.model_version,
                               "another version of the model")
            self.assertEqual(server.translate(text).translations, answer.translations)
            server.channel.close()
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
