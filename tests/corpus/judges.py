"""What is wrong with a translated file, as parsers say that are not Dragoman's.

A judge of a format takes the bytes of the file and of its translation, and returns faults, a text each.  It raises Unfit
if the file itself is not of the format, and whatever the parser raises if the translation is not.
"""

import collections
import csv
import io
import json
import os
import plistlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile

PLACEHOLDERS = re.compile(r"%\d+\$[sdif@]|%[sdif@](?![a-zA-Z])|%\(\w+\)[sd]|\$\{[\w.]+\}|\{\{\s*[\w.]+\s*\}\}"
                          r"|(?<![{'])\{\d+\}(?!\})|https?://[\w./?=&#%-]*\w")
WORD = re.compile(r"[^\W\d_]{2}")
LETTER = re.compile(r"[^\W\d_]")


class Unfit(Exception):
    """The file is damaged before it is translated."""


def count(items):
    return collections.Counter(items)


def string(where, source, target):
    """The faults of a string of a program."""
    if WORD.search(source) and not LETTER.search(target):
        yield f"{where}: the words of {source!r} vanish: {target!r}"
    before, after = count(PLACEHOLDERS.findall(source)), count(PLACEHOLDERS.findall(target))
    if before != after:
        yield f"{where}: placeholders {dict(before - after)} become {dict(after - before)}: {source!r} -> {target!r}"


def strings(source, target):
    """The faults of two lists of keys and strings."""
    if [key for key, _ in source] != [key for key, _ in target]:
        yield "the keys differ"
        return
    for (key, before), (_, after) in zip(source, target):
        yield from string(key, before, after)


def leaves(value, path=""):
    """The strings of parsed JSON or YAML, and what else there is, with its type."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{i}]")
    else:
        yield path, value


def values(source, target):
    source, target = list(leaves(source)), list(leaves(target))
    others = [[leaf for leaf in side if not isinstance(leaf[1], str)] for side in (source, target)]
    if others[0] != others[1]:
        yield "what is no string differs"
    yield from strings(*([leaf for leaf in side if isinstance(leaf[1], str)] for side in (source, target)))


def judge_json(source, target):
    return values(json.loads(source.decode("utf-8-sig")), json.loads(target.decode("utf-8-sig")))


def judge_arb(source, target):
    """As JSON, but for what an entry says of another one, which stays, and the language, which does not."""
    before, after = (json.loads(data.decode("utf-8-sig")) for data in (source, target))
    for side in (before, after):
        side.pop("@@locale", None)
    for key in [key for key in before if key.startswith("@")]:
        if before.pop(key) != after.pop(key, None):
            yield f"{key} differs"
    yield from values(before, after)


VARIABLES = re.compile(r"%(?:\d+\$)?#@\w+@|%arg|%(?:\d+\$)?[-+0#]*[\d.]*(?:hh|h|ll|l|q|z|t|j)?[@dDuUxXoOfeEgGcCsSpaAF]")


def apple(where, source, target):
    yield from string(where, source, target)
    if count(VARIABLES.findall(source)) != count(VARIABLES.findall(target)):
        yield f"{where}: the variables of {source!r} differ: {target!r}"


def judge_xcstrings(source, target):
    before, after = json.loads(source.decode("utf-8-sig")), json.loads(target.decode("utf-8-sig"))
    own = before["sourceLanguage"]
    if list(before["strings"]) != list(after["strings"]):
        yield "the keys differ"
        return
    for key, entry in after["strings"].items():
        was = before["strings"][key].setdefault("localizations", {})
        texts = was.get(own, {"stringUnit": {"value": key}})
        added = {name: inner for name, inner in entry.setdefault("localizations", {}).items() if name not in was}
        for language, inner in added.items():
            del entry["localizations"][language]
            texts_of = [[leaf for leaf in leaves(side) if leaf[0].endswith(".value")] for side in (texts, inner)]
            if [path for path, _ in texts_of[0]] != [path for path, _ in texts_of[1]]:
                yield f"{key!r}: the variations differ"
            for (path, text), (_, translation) in zip(*texts_of):
                yield from apple(f"{key!r} {path}", text, translation)
    if before != after:
        yield "what was there differs"


def judge_stringsdict(source, target):
    before, after = (list(leaves(plistlib.loads(data))) for data in (source, target))
    if [path for path, _ in before] != [path for path, _ in after]:
        yield "the keys differ"
    for (path, was), (_, text) in zip(before, after):
        if path.endswith(("NSStringFormatSpecTypeKey", "NSStringFormatValueTypeKey")) and was != text:
            yield f"{path}: {was!r} becomes {text!r}"
        yield from apple(path, was, text)


def judge_yaml(source, target):
    import yaml

    class Loader(yaml.SafeLoader):
        """Takes any tag."""

    def of_tag(loader, suffix, node):
        if isinstance(node, yaml.MappingNode):
            return [suffix, loader.construct_mapping(node)]
        return [suffix, loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else node.value]

    Loader.add_multi_constructor("", of_tag)

    def load(data):
        return [json.loads(json.dumps(document, default=str)) for document in yaml.load_all(data, Loader)]
    try:
        before = load(source)
    except Exception as error:
        raise Unfit(error) from error
    return values(before, load(target))


def judge_properties(source, target):
    import javaproperties

    def load(data):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        entries = [entry for entry in javaproperties.parse(io.StringIO(text)) if hasattr(entry, "key")]
        return [(entry.key, entry.value) for entry in entries]
    return strings(load(source), load(target))


def msgfmt(data):
    with tempfile.NamedTemporaryFile(suffix=".po") as file:
        file.write(data)
        file.flush()
        ended = subprocess.run(["msgfmt", "-c", "-o", os.devnull, file.name], capture_output=True, text=True, check=False)
        return ended.returncode, ended.stderr


def judge_po(source, target):
    import polib
    if msgfmt(source)[0] == 0 and msgfmt(target)[0] != 0:
        yield msgfmt(target)[1]
    try:
        before = polib.pofile(source.decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Unfit(error) from error
    after = polib.pofile(target.decode("utf-8"))
    if [(e.msgctxt, e.msgid, e.msgid_plural) for e in before] != [(e.msgctxt, e.msgid, e.msgid_plural) for e in after]:
        yield "the entries differ"
        return
    for was, entry in zip(before, after):
        if was.msgstr and was.msgstr != entry.msgstr and not was.fuzzy:
            yield f"the translation of {was.msgid!r} was replaced"
        elif entry.msgstr and not was.msgstr:
            yield from string(entry.msgid[:40], entry.msgid, entry.msgstr)


TIMES = re.compile(r"^[ \t]*[\d:.,]+[ \t]*-->[ \t]*[\d:.,]+.*$", re.M)
TAGS = re.compile(r"<[^<>\n]*>|\{\\[^{}]*\}")


def cues(data):
    """The time and text of each cue of SubRip or WebVTT."""
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = list(TIMES.finditer(text))
    ends = [following.start() for following in lines[1:]] + [len(text)]
    return [(line.group().strip(), text[line.end():end].split("\n\n")[0]) for line, end in zip(lines, ends)]


def judge_srt(source, target):
    before, after = cues(source), cues(target)
    if [time for time, _ in before] != [time for time, _ in after]:
        yield "the times differ"
        return
    for (time, was), (_, text) in zip(before, after):
        if WORD.search(TAGS.sub("", was)) and not LETTER.search(TAGS.sub("", text)):
            yield f"{time}: the words of {was!r} vanish: {text!r}"
        # An element that ends with a line and begins again with the next may go on.
        was, text = (re.sub(r"</(\w+)>\n<\1>", "\n", side) for side in (was, text))
        if count(TAGS.findall(was)) != count(TAGS.findall(text)):
            yield f"{time}: the tags differ: {was!r} -> {text!r}"


judge_vtt = judge_srt


def judge_ass(source, target):
    before, after = source.decode("utf-8-sig").splitlines(), target.decode("utf-8-sig").splitlines()
    if len(before) != len(after):
        yield "the number of lines differs"
    for was, line in zip(before, after):
        spoken = was.lstrip().startswith("Dialogue:")
        if was != line and not spoken:
            yield f"{was!r} becomes {line!r}"
        elif spoken and was.split(",", 9)[:9] != line.split(",", 9)[:9]:
            yield f"the fields of {was!r} differ: {line!r}"
        elif re.findall(r"\{[^}]*\}", was) != re.findall(r"\{[^}]*\}", line):
            yield f"the tags of {was!r} differ: {line!r}"


TRANSLATED = {"alt", "title", "placeholder", "aria-label", "content", "value", "lang", "xml:lang", "summary", "label",
              "dir", "download"}


def judge_html(source, target):
    import html5lib
    before, after = (html5lib.parse(data, namespaceHTMLElements=False) for data in (source, target))

    def tags(tree):
        return count((str(e.tag), tuple(sorted((k, v) for k, v in e.attrib.items() if k not in TRANSLATED)))
                     for e in tree.iter())

    def texts(tree, name):
        return ["".join(e.itertext()) for e in tree.iter(name)]
    if tags(before) != tags(after):
        yield f"the elements differ: {list((tags(before) - tags(after)).items())[:4]}"
    for name in ("script", "style", "code"):
        if sorted(texts(before, name)) != sorted(texts(after, name)):
            yield f"<{name}> differs"
    for name in ("a", "b", "button", "dd", "dt", "h1", "h2", "h3", "label", "li", "option", "p", "td", "th", "title"):
        with_words = [sum(1 for text in texts(tree, name) if LETTER.search(text)) for tree in (before, after)]
        if with_words[0] > with_words[1]:
            yield f"<{name}> loses its words"


def judge_markdown(source, target):
    from markdown_it import MarkdownIt
    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")

    def blocks(data):
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return parser.parse(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S))

    def inside(token):
        return count((t.type, t.content if t.type == "code_inline" else t.attrs.get("href") or t.attrs.get("src"))
                     for t in token.children if t.type not in ("text", "softbreak", "html_inline"))
    before, after = blocks(source), blocks(target)
    if [(token.type, token.tag) for token in before] != [(token.type, token.tag) for token in after]:
        at = next((i for i, (a, b) in enumerate(zip(before, after)) if (a.type, a.tag) != (b.type, b.tag)), 0)
        yield f"the blocks differ near {[token.content[:60] for token in before[max(0, at - 3):at + 3]]}"
        return
    for was, token in zip(before, after):
        if was.type in ("fence", "code_block") and was.content != token.content:
            yield f"code differs: {was.content[:60]!r}"
        if was.type != "inline":
            continue
        if inside(was) != inside(token):
            yield f"what is in a line differs: {was.content[:150]!r} -> {token.content[:150]!r}"
        if WORD.search(was.content) and not LETTER.search(token.content):
            yield f"the words of {was.content[:150]!r} vanish"


def parse_xml(source, target):
    try:
        before = ElementTree.fromstring(source)
    except ElementTree.ParseError as error:
        raise Unfit(error) from error
    return before, ElementTree.fromstring(target)


def judge_android(source, target):
    before, after = parse_xml(source, target)
    if [(e.tag, e.attrib) for e in before.iter()] != [(e.tag, e.attrib) for e in after.iter()]:
        yield "the elements differ"
        return
    for was, entry in zip(before, after):
        texts = ["".join(e.itertext()) for e in (was, entry)]
        if was.tag == "string":
            yield from string(was.get("name"), *texts)
        elif was.tag not in ("plurals", "string-array") and texts[0] != texts[1]:
            yield f"<{was.tag} name={was.get('name')}> differs"


def judge_ts(source, target):
    before, after = parse_xml(source, target)
    if [e.text for e in before.iter("source")] != [e.text for e in after.iter("source")]:
        yield "the sources differ"
    for message in after.iter("message"):
        text, translation = message.findtext("source") or "", message.find("translation")
        if translation is not None and not list(translation):
            yield from string(text[:40], text, translation.text or "")


def judge_xliff(source, target):
    before, after = parse_xml(source, target)

    def named(tree, name):
        return [e for e in tree.iter() if str(e.tag).split("}")[-1] == name]
    if ["".join(e.itertext()) for e in named(before, "source")] != ["".join(e.itertext()) for e in named(after, "source")]:
        yield "the sources differ"
    for was, unit in zip(named(before, "trans-unit"), named(after, "trans-unit")):
        text = (named(unit, "seg-source") or named(unit, "source"))[0]
        translation = named(unit, "target")
        if ElementTree.tostring(was) == ElementTree.tostring(unit) and (translation or unit.get("translate") == "no"):
            continue
        for code in [e for name in ("ph", "bpt", "ept", "it") for e in named(text, name)]:
            code.text = ""
        if not WORD.search("".join(text.itertext())):
            continue
        if not translation or not LETTER.search("".join(translation[0].itertext())):
            yield f"{unit.get('id')}: has no translation"
        elif count(e.get("id") for e in text.iter()) != count(e.get("id") for e in translation[0].iter()):
            yield f"{unit.get('id')}: the elements differ"


def judge_strings(source, target):
    entry = re.compile(r'^\s*"((?:[^"\\]|\\.)*)"\s*=\s*"((?:[^"\\]|\\.)*)"\s*;', re.M)

    def load(data):
        return entry.findall(data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"))
    return strings(load(source), load(target))


def judge_ftl(source, target):
    entry = re.compile(r"^(-?[A-Za-z][\w-]*) *=", re.M)
    before, after = source.decode(), target.decode()
    if entry.findall(before) != entry.findall(after):
        yield "the keys differ"
    references = [count(re.findall(r"\{ *(?:\$|-)?[\w-]+ *\}", text)) for text in (before, after)]
    if references[0] != references[1]:
        yield f"the references differ: {references[0] - references[1]} {references[1] - references[0]}"


def judge_php(source, target):
    def tokens(data):
        program = ("echo json_encode(array_map(fn($token) => [$token->getTokenName(), $token->text], "
                   "PhpToken::tokenize(stream_get_contents(STDIN), TOKEN_PARSE)));")
        ended = subprocess.run(["php", "-r", program], input=data, capture_output=True, check=False)
        return [token for token in json.loads(ended.stdout) if token[0] != "T_WHITESPACE"]
    try:
        before = tokens(source)
    except ValueError as error:
        raise Unfit(error) from error
    after = tokens(target)
    if [name for name, _ in before] != [name for name, _ in after]:
        yield "the tokens differ"
    for i, ((name, was), (_, text)) in enumerate(zip(before, after)):
        is_key = i + 1 < len(before) and before[i + 1][0] == "T_DOUBLE_ARROW"
        if name in ("T_CONSTANT_ENCAPSED_STRING", "T_ENCAPSED_AND_WHITESPACE") and not is_key:
            yield from string(f"token {i}", was.strip("'"), text.strip("'"))
        elif was != text:
            yield f"{was!r} becomes {text!r}"


def judge_csv(source, target, delimiter=","):
    def load(data):
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    try:
        before, after = load(source), load(target)
    except UnicodeDecodeError as error:
        raise Unfit(error) from error
    if [len(row) for row in before] != [len(row) for row in after]:
        yield "the cells differ"
        return
    for i, (row, translated) in enumerate(zip(before, after)):
        for was, cell in zip(row, translated):
            if not WORD.search(was) and was != cell:
                yield f"row {i + 1}: {was!r} becomes {cell!r}"
            yield from string(f"row {i + 1}", was, cell)


def judge_tsv(source, target):
    return judge_csv(source, target, "\t")


def judge_dita(source, target):
    before, after = parse_xml(source, target)
    if [(e.tag, e.attrib) for e in before.iter()] != [(e.tag, e.attrib) for e in after.iter()]:
        yield "the elements differ"
        return
    for was, element in zip(before.iter(), after.iter()):
        texts = ["".join(e.itertext()) for e in (was, element)]
        if was.tag in ("title", "p", "shortdesc", "cmd", "li", "info", "note", "entry", "dd", "dt"):
            yield from string(f"<{was.tag}>", *texts)
        elif was.tag in ("codeblock", "codeph", "filepath", "cmdname", "draft-comment") and texts[0] != texts[1]:
            yield f"<{was.tag}> differs: {texts}"


def judge_resx(source, target):
    before, after = parse_xml(source, target)
    yield from strings(*([(e.get("name"), e.findtext("value") or "") for e in tree.iter("data")] for tree in (before, after)))


def judge_tmx(source, target):
    before, after = parse_xml(source, target)
    for unit, translated in zip(before.iter("tu"), after.iter("tu")):
        old = {ElementTree.tostring(variant).strip() for variant in unit.iter("tuv")}
        new = [v for v in translated.iter("tuv") if ElementTree.tostring(v).strip() not in old]
        if len(new) + len(old) != len(list(translated.iter("tuv"))):
            yield f"the variants of {unit.get('tuid')} differ"
        for variant in new:
            yield from string(unit.get("tuid"), "".join(next(unit.iter("seg")).itertext()),
                              "".join(next(variant.iter("seg")).itertext()))


def judge_zip(source, target):
    """Office files and books: the parts, and the words of their paragraphs."""
    before, after = (zipfile.ZipFile(io.BytesIO(data)) for data in (source, target))
    if before.namelist() != after.namelist():
        yield "the parts differ"
        return
    for name in before.namelist():
        if not name.endswith((".xml", ".xhtml", ".html", ".rels", ".opf", ".ncx")):
            continue
        try:
            trees = parse_xml(before.read(name), after.read(name))
        except Unfit:
            continue
        paragraphs = ("si", "is", "p", "h", "h1", "h2")
        texts = [["".join(e.itertext()) for e in tree.iter() if str(e.tag).split("}")[-1] in paragraphs]
                 for tree in trees]
        if len(texts[0]) != len(texts[1]):
            yield f"{name}: the paragraphs differ"
        for was, text in zip(*texts):
            if WORD.search(was) and not LETTER.search(text):
                yield f"{name}: the words of {was[:100]!r} vanish: {text[:100]!r}"


judge_docx = judge_epub = judge_odp = judge_ods = judge_odt = judge_pptx = judge_xlsx = judge_zip


def faults(kind, source, target):
    """The faults of a translation of that format; Unfit if the file is damaged."""
    try:
        return list(globals()[f"judge_{kind}"](source, target))
    except Unfit:
        raise
    except Exception as error:
        return [f"is not read by another parser: {error!r}"[:300]]
