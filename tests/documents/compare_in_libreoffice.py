#!/usr/bin/python3
"""Compares office documents with their translations, as LibreOffice reads both.

    tests/documents/compare_in_libreoffice.py tests/documents/data TRANSLATIONS [--pictures FOLDER]

Each document of the first folder that the second one has by the same name is converted to flat XML, of which it counts
paragraphs, runs of text by how they look, tables and cells, pictures, links, notes and comments, and pages.  With
--pictures it also draws the first page of both.  Needs soffice.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

FLAT = {".docx": "fodt", ".odt": "fodt", ".pptx": "fodp", ".odp": "fodp", ".xlsx": "fods", ".ods": "fods"}
COUNTED = {"text:p": "paragraphs", "text:h": "headings", "text:list-item": "items", "table:table": "tables",
           "table:table-cell": "cells", "draw:image": "pictures", "draw:frame": "frames", "draw:page": "pages",
           "text:a": "links", "text:note": "notes", "office:annotation": "comments", "text:bookmark-start": "bookmarks",
           "text:sequence": "fields"}
# What nobody sees: languages, and which program wrote what.
UNSEEN = ("language", "country", "script", "rsid")


def convert(profile, path, into, target):
    subprocess.run(["soffice", "--headless", f"-env:UserInstallation=file://{profile}", "--convert-to", target,
                    "--outdir", into, path], check=True, stdout=subprocess.DEVNULL, timeout=300)
    return os.path.join(into, os.path.splitext(os.path.basename(path))[0] + "." + target)


def read(path):
    """The root of a flat file, and its prefixes."""
    spaces = {}
    for event, value in ElementTree.iterparse(path, events=("start-ns", "end")):
        if event == "start-ns":
            spaces[value[0]] = value[1]
        else:
            root = value
    return root, {uri: prefix for prefix, uri in spaces.items()}


class Looks:
    """How text looks by the name of its style."""

    def __init__(self, root, name_of):
        self.name_of, self.looks = name_of, {}
        for style in root.iter():
            if name_of(style.tag) == "style:style" and self.attribute(style, "style:family") == "text":
                properties = [f"{name_of(key)}={value}" for inner in style for key, value in inner.attrib.items()
                              if not any(word in key for word in UNSEEN)]
                parent = self.attribute(style, "style:parent-style-name")
                self.looks[self.attribute(style, "style:name")] = " ".join([parent, *sorted(properties)]).strip()

    def attribute(self, element, name):
        return next((value for key, value in element.attrib.items() if self.name_of(key) == name), "")

    def runs(self, paragraph):
        """The looks of the texts of a paragraph; those of neighbours that look equal count once."""
        found = []

        def walk(element, look):
            if self.name_of(element.tag) in ("text:note", "office:annotation", "draw:frame"):
                return
            if self.name_of(element.tag) == "text:span":
                look = self.looks.get(self.attribute(element, "text:style-name"), "")
            if (element.text or "").strip() and found[-1:] != [look]:
                found.append(look)
            for inner in element:
                walk(inner, look)
                if (inner.tail or "").strip() and found[-1:] != [look]:
                    found.append(look)

        walk(paragraph, "")
        return found


def counts(path):
    root, prefixes = read(path)

    def name_of(tag):
        uri, _, name = tag.rpartition("}")
        return f"{prefixes.get(uri[1:], '')}:{name}"

    body = next(element for element in root.iter() if name_of(element.tag) == "office:body")
    looks = Looks(root, name_of)
    counted = collections.Counter()
    for element in body.iter():
        name = name_of(element.tag)
        if name in COUNTED:
            counted[COUNTED[name]] += 1
        if name in ("text:p", "text:h"):
            for look in looks.runs(element):
                counted["runs: " + (look or "as the paragraph")] += 1
    return counted


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--pictures", help="a folder")
    flags = parser.parse_args()
    same = True
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile")
        for name in sorted(os.listdir(flags.before)):
            stem, suffix = os.path.splitext(name)
            paths = [os.path.join(side, name) for side in (flags.before, flags.after)]
            if suffix not in FLAT or not os.path.exists(paths[1]):
                continue
            found = []
            for side, path in zip(("before", "after"), paths):
                into = os.path.join(folder, side, suffix[1:])
                found.append(counts(convert(profile, path, into, FLAT[suffix])))
                if flags.pictures:
                    picture = convert(profile, path, into, "png")
                    os.makedirs(flags.pictures, exist_ok=True)
                    os.replace(picture, os.path.join(flags.pictures, f"{stem}-{suffix[1:]}-{side}.png"))
            before, after = found
            same &= before == after
            print(f"{name}: " + ("equal: " if before == after else "DIFFERENT: ")
                  + ", ".join(f"{before[what]} {what}" if before[what] == after[what]
                              else f"{before[what]}/{after[what]} {what}" for what in sorted(before | after)))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
