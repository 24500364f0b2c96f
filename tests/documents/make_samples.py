"""Makes the samples in data/: small flat OpenDocument files, which LibreOffice converts.

    python3 tests/documents/make_samples.py

It needs soffice, and the results differ a little from version to version.
"""

import pathlib
import subprocess
import tempfile

DATA = pathlib.Path(__file__).parent / "data"
TARGETS = {"text.fodt": ("docx", "odt", "epub"), "sheet.fods": ("xlsx", "ods"),
           "slides.fodp": ("pptx", "odp")}


def main():
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        for source, targets in TARGETS.items():
            for target in targets:
                subprocess.run(
                    ["soffice", "--headless", f"-env:UserInstallation=file://{profile}",
                     "--convert-to", target, "--outdir", str(DATA),
                     str(DATA.parent / "samples" / source)], check=True)


if __name__ == "__main__":
    main()
