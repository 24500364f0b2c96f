"""Files with what goes wrong in real ones (tests/golden/cases), in three languages: what is no text comes back as it was.

The wording of a translation does not matter.  Each case says what must be true of the file that comes out.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

import yaml

from harness import BUILT_IN, CLIENT, SOURCE_DIR, ServerTest

CASES = os.path.join(SOURCE_DIR, "tests/golden/cases")
TAGS = r"</?\w[^>]*>"


def strings(value):
    """All strings in JSON or YAML, in order."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [string for each in inner for string in strings(each)]


def cues(text):
    """The lines of each cue, by its times."""
    found = {}
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.strip("\n").split("\n")
        for at, line in enumerate(lines):
            if "-->" in line:
                found[line] = lines[at + 1:]
    return found


class Case:
    """A source and its translation."""

    def __init__(self, test, source, out):
        self.test, self.source, self.out = test, source, out

    def keep(self, *patterns):
        """What these patterns find is there as often as before."""
        for pattern in patterns:
            self.test.assertEqual(collections.Counter(re.findall(pattern, self.out)),
                                  collections.Counter(re.findall(pattern, self.source)), (pattern, self.out))

    def contains(self, *texts):
        for text in texts:
            self.test.assertIn(text, self.out)

    def lacks(self, *texts):
        for text in texts:
            self.test.assertNotIn(text, self.out)

    def same_lines(self, *numbers):
        out, source = self.out.split("\n"), self.source.split("\n")
        self.test.assertEqual(len(out), len(source), self.out)
        for number in numbers:
            self.test.assertEqual(out[number - 1], source[number - 1])

    def same_cues(self):
        """The same cues with as many lines, none of them empty."""
        source, out = cues(self.source), cues(self.out)
        self.test.assertEqual(list(out), list(source))
        for times, lines in source.items():
            self.test.assertEqual(len(out[times]), len(lines), self.out)
            for line in out[times]:
                self.test.assertRegex(line, r"\w|---|♪", self.out)


# Mnemonics, which move to another letter; numbers and words, which each language writes in its way.
NO_LITERALS = ("&File", "_File", "~File", "50 %", "1,000", "12:30", "“x”", "(s)", "cat(s)")


def literals_by_key(case):
    """Each value has its key, once, and what stands around it."""
    for key, value in json.loads(case.out).items():
        if key not in NO_LITERALS:
            case.test.assertEqual(value.count(key), 1, (key, value))


def i18next(case):
    values = json.loads(case.out)
    case.test.assertEqual(values["k"], "$t(key)")
    case.test.assertEqual(values["l"], '$t(key, {"context": "male"})')
    for key, literals in {"a": ['$t(girl, { "count": {{girls}} })'], "b": ['$t(dog, {"count": 2})'],
                          "e": [TAGS], "g": ["C:\\Users\\ann\\file.txt"], "h": ['`say "x"`'], "i": ['${a["b"]}'],
                          "j": ["%{a}", "$t(key)", "$t(ns:key.sub)"]}.items():
        for literal in literals:
            if literal == TAGS:
                case.test.assertEqual(len(re.findall(TAGS, values[key])), 2, values[key])
            else:
                case.test.assertEqual(values[key].count(literal), 1, (literal, values[key]))


def stand_ins(case):
    case.keep(r"%\d\$s", r"%\(\w+\)s", r"%?\{\w+\}", TAGS)
    case.test.assertEqual(re.findall(r"\d{3,}|\d\d", re.sub(r"%\d\$s", "", case.out)), [], case.out)


def android(case):
    kept = re.compile(r"  <(bool|style|item|integer-array|array|declare-styleable).*")
    case.test.assertEqual([line.group() for line in kept.finditer(case.out)],
                          [line.group() for line in kept.finditer(case.source)])
    case.keep(r"%d")
    ElementTree.fromstring(case.out)


def message_format(case):
    for line in case.out.splitlines():
        case.test.assertNotRegex(line.replace("''", ""), "'", line)
    case.keep(r"''\{0\}''", r"\{0\}")


def bars(case):
    values = strings(yaml.safe_load(case.out))
    for value, parts in zip(values, (2, 3, 3)):
        case.test.assertEqual(len(value.split("|")), parts, value)
        case.test.assertNotIn("", [part.strip() for part in value.split("|")])
    case.keep(r"\{\{ limit \}\}", r"%\{count\}", r":count", r"\{[01]\}", r"\[2,\*\]")


def yaml_is_read(case):
    before, after = (yaml.safe_load(text) for text in (case.source, case.out))
    case.test.assertEqual(len(strings(after)), len(strings(before)))
    case.test.assertNotIn("", strings(after))


def rails(case):
    yaml_is_read(case)
    case.keep(r"%Y-%m-%d %H:%M", r"%A, %d\. %B %Y", r"%-d %b, %l:%M %p", r"%\{count\}", r"%<total>d", r"%\{a\}")


def tags_of_yaml(case):
    case.keep(r": ! ", r"!!str ")
    yaml_is_read(case)
    case.lacks("The cat", "The dog", "The girl")


def code_spans(case):
    case.keep(r"`[^`]+`")
    case.lacks("``")


def pairs(case):
    case.keep(TAGS, r"&lt;/?\w&gt;", r"\*+", r"!?\[(?=[^\]]*\]\()", r"\]\(\S+?\)")
    case.contains("</p><p>")
    for value in json.loads(case.out).values():
        open_tags = []
        for closes, name, empty in re.findall(r"(?:<|&lt;)(/?)(\w+)[^>&]*?(/?)(?:>|&gt;)", value):
            if closes:
                case.test.assertEqual(open_tags.pop(), name, value)
            elif not empty:
                open_tags.append(name)


def codes(case):
    """As often in the translation as in the source, and around a word if they were."""
    for pattern in (r"<bpt.*?/bpt>", r"<ept.*?/ept>", r"<it.*?/it>", r"<ph.*?/ph>"):
        case.test.assertEqual(len(re.findall(pattern, case.out)), 2 * len(re.findall(pattern, case.source)), case.out)
    case.test.assertEqual(len(re.findall(r"</bpt>[^\W\d][^<]*<", case.out)), 6, case.out)


CHECKS = {
    "07-literals.json": literals_by_key,
    "16b.json": i18next,
    "01-standin.json": stand_ins,
    "02-values.xml": android,
    "03-messageformat.properties": message_format,
    "08-brace-spaces.json": lambda case: (case.keep(r"\{ count \}", r"\{ place \}"), case.contains('"{m}:{s}m"')),
    "09-bars.yml": bars,
    "10-empty.json": lambda case: case.test.assertNotIn("", strings(json.loads(case.out))),
    "10-empty.txt": lambda case: case.same_lines(),
    "10-empty.srt": Case.same_cues,
    "10-empty.vtt": Case.same_cues,
    "11-code-spans.md": code_spans,
    "12-cue-tags.vtt": lambda case: (case.same_cues(), case.keep(TAGS, r"<[\d:.]+>")),
    "13-cues.srt": lambda case: (case.same_cues(), case.keep(r"#\d", "---", TAGS), case.contains("[", "]")),
    "14-flow.yml": yaml_is_read,
    "15-tag.yml": tags_of_yaml,
    "18-noscript.html": lambda case: case.keep(TAGS),
    "20-cdata.xml": lambda case: (case.keep(r"\\n"), ElementTree.fromstring(case.out)),
    "21-mnemonics.properties": lambda case: (case.keep("[~&]"), case.contains("...")),
    "22-template.html": lambda case: case.keep(r"\{%.*?%\}", r"\{#.*?#\}", r"\{\{.*?\}\}", "&rsaquo;"),
    "24-no-blank-line.vtt": lambda case: case.keep(r".*-->.*"),
    "25-cr.vtt": lambda case: case.test.assertEqual(case.out.count("-->"), case.source.count("-->")),
    "26-times.srt": lambda case: case.keep(r".*-->.*"),
    "27-style.vtt": lambda case: (case.keep(r".*-->.*"), case.contains(case.source.split("00:")[0])),
    "28-pairs.json": pairs,
    "29-dialogue.srt": lambda case: (case.same_cues(), case.keep("(?:^|(?<= )|(?<=>))[-–] ", "&nbsp;", "&rarr;", TAGS)),
    "30-signs.html": lambda case: case.keep(TAGS, r"<(\w+)>(?:\*|=|&raquo;)</", r"&[gl]t;|AT&amp;T|&reg;|H₂O\*", "/ <| \\|",
                                            r"\(https://example.org/a\)"),
    "31-codes.tmx": codes,
    "40-t.yml": rails,
    "41-nbsp.yml": yaml_is_read,
    "42.md": lambda case: (case.keep(r"\$[A-Z]+", "<br/?>"), case.lacks("\\$")),
    "43.txt": lambda case: (case.same_lines(2, 5, 7, 15), case.keep(r"(?m)^\* |^\d\) ")),
    "43.html": lambda case: (case.keep(TAGS), case.contains("<th>0</th>", "<td>5</td>", "<td>...</td>", "<td>$5</td>")),
    "44.md": lambda case: case.keep(r"(?m)^:::\w*|^!!! note|^\?\?\? |^=== ", r"\{%.*?include", r"\{\{.*?(?=title|%|\}\})",
                                    r"\[TOC\]", r"\{: .lead \}|\{width=50%\}|\{:target=\"_blank\"\}", r"@fig:house",
                                    r"\[@smith2000, p. 5\]", r"\\newpage", r"(?s)```mermaid.*?```", r"<kbd>\w+</kbd>",
                                    r"http://a\.b\S*", r"\+\+ctrl\+c\+\+", r"(?m)^\[\^1\]:", r"> \[![A-Z]+\]"),
    "47.vtt": lambda case: (case.same_cues(), case.keep(r"<v \w+>", r"(?m)^- ", r"(?m)^\w+: ", r"&gt;&gt;")),
    "49-angular.xlf": lambda case: (case.keep(r"<source>.*</source>"), ElementTree.fromstring(case.out)),
    "52.srt": lambda case: (case.same_cues(), case.contains("{\\an8}")),
}


class CasesTest(ServerTest):

    arguments = ("--model", f"en-de-fr-es={BUILT_IN}")

    def translated(self, language):
        """What comes out for all cases, by their names."""
        directory = self.enterContext(tempfile.TemporaryDirectory())
        found = {}
        for name in sorted(os.listdir(CASES)):
            if name in ("21-glossary.csv", "23-program.ts"):
                continue
            shutil.copy(os.path.join(CASES, name), directory)
            stem, suffix = os.path.splitext(name)
            more = ("--format", "android") if name in ("02-values.xml", "20-cdata.xml") else ()
            ended = subprocess.run(
                [CLIENT, "translate-file", "--server", self.server.grpc_address, "-s", "en", "-t", language, *more,
                 os.path.join(directory, name)], capture_output=True, text=True, timeout=120)
            self.assertEqual(ended.returncode, 0, (name, ended.stderr))
            found[name] = os.path.join(directory, f"{stem}.{language}{suffix}")
        return found

    def test_what_is_no_text_comes_back(self):
        for language in ("de", "fr", "es"):
            for name, path in self.translated(language).items():
                if name not in CHECKS:
                    continue
                with self.subTest(name, language=language):
                    with open(os.path.join(CASES, name), encoding="utf-8", newline="") as file:
                        source = file.read()
                    with open(path, encoding="utf-8", newline="") as file:
                        CHECKS[name](Case(self, source, file.read()))

    def test_every_text_is_judged(self):
        """By the table above or, as binary files and catalogues are, by other programs and tests."""
        others = {"04-noheader.pot", "05-python-format.po", "06-printf-order.po", "10-empty.md", "19-crlf.xlf",
                  "21-glossary.csv", "21-mnemonics.ts", "23-program.ts", "54-x000d.xlsx", "56.docx", "e1-nodtd.epub"}
        self.assertEqual(set(os.listdir(CASES)), set(CHECKS) | others)

    def test_catalogues_are_catalogues(self):
        for language in ("de", "fr"):
            files = self.translated(language)
            for name in ("04-noheader.pot", "05-python-format.po", "06-printf-order.po"):
                with self.subTest(name, language=language):
                    ended = subprocess.run(["msgfmt", "-c", "-o", os.devnull, files[name]], capture_output=True, text=True,
                                           timeout=60)
                    self.assertEqual(ended.returncode, 0, ended.stderr)
            with open(files["19-crlf.xlf"], encoding="utf-8", newline="") as file:
                self.assertNotRegex(file.read(), r"[^\r]\n")
            with zipfile.ZipFile(files["54-x000d.xlsx"]) as archive:
                text = " ".join(archive.read(name).decode() for name in archive.namelist() if name.endswith(".xml"))
            self.assertNotRegex(text, r"x000[dD]_?[^_]*\w+_000")
            with zipfile.ZipFile(files["e1-nodtd.epub"]) as archive:
                for name in archive.namelist():
                    if name.endswith((".xhtml", ".opf", ".ncx")):
                        ElementTree.fromstring(archive.read(name).decode().replace("&nbsp;", "&#160;"))


if __name__ == "__main__":
    unittest.main()
