"""The programs of a release build are hardened as Debian's are (cmake/dragoman.cmake)."""

import os
import subprocess
import unittest

from harness import CLIENT, SERVER


def readelf(option, program):
    return subprocess.run(["readelf", option, "--wide", program], check=True, capture_output=True, text=True).stdout


class HardeningTest(unittest.TestCase):

    def test_addresses_are_random_and_relocations_are_fixed_before_main(self):
        for program in (SERVER, CLIENT):
            self.assertIn("DYN (Position-Independent Executable file)", readelf("--file-header", program))
            dynamic = readelf("--dynamic", program)
            self.assertRegex(dynamic, r"\(FLAGS\).*BIND_NOW")
            self.assertRegex(dynamic, r"\(FLAGS_1\).*NOW.*PIE")
            segments = readelf("--segments", program)
            self.assertIn("GNU_RELRO", segments)
            self.assertRegex(segments, r"GNU_STACK .* RW  ")  # and not E

    def test_frames_have_canaries_and_copies_are_checked(self):
        for program in (SERVER, CLIENT):
            symbols = readelf("--symbols", program)
            self.assertIn("__stack_chk_fail@", symbols)
            self.assertRegex(symbols, r"__mem(cpy|move|set)_chk@")

    def test_indirect_calls_have_landing_pads(self):
        # In our own objects; Debian's static libraries have none, so the program as a whole is not marked.
        library = os.path.join(os.path.dirname(SERVER), "libdragoman_server.a")
        self.assertRegex(readelf("--notes", library), "IBT, SHSTK|BTI, PAC")


if __name__ == "__main__":
    unittest.main()
