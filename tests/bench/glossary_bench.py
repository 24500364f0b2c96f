#!/usr/bin/env python3
"""Measures what stored glossaries do to translations, and what they cost.

    glossary_bench.py [--build build/release] [--rounds 5] [--max-loss 3]

Written: 500 sentences written by hand (glossary/sentences.txt), each with at least one of 50 terms
(glossary/terms.tsv), into German, French and Spanish. A term is right if the translation has one of its forms as a
whole word.

Made: 1,000 sentences from patterns and nouns, with a German reference that calls the noun what the glossary wants, in
the form that the pattern needs. A term fits if it has the form of the reference. BLEU is of the rest: without the
terms, and without what the model calls them by itself.

Both compare: no glossary; the exact form in the request, as a glossary without inflections; and stored glossaries with
the exact form, with it and the endings of the language (`inflect`), and with all forms.

Cost: the CPU time of the server for the same sentences with 10, 1,000 and 100,000 entries, in turns, of which ten or
none are in the sentences. If none is, the translations must be those without a glossary.
"""

import argparse
import glob
import os
import random
import re
import statistics
import sys
import tempfile

import own_server

# English; the article and the form that German needs: N nominative, A accusative, D dative, G genitive, P plural.
PATTERNS = """The @ is old.|N ist alt.
The @ is very expensive.|N ist sehr teuer.
I see the @.|Ich sehe A.
We need the @ today.|Wir brauchen heute A.
She is looking for the @.|Sie sucht A.
They sold the @ last year.|Sie haben letztes Jahr A verkauft.
He works with the @ every day.|Er arbeitet jeden Tag mit D.
What happened with the @?|Was ist mit D passiert?
The price of the @ is too high.|Der Preis G ist zu hoch.
The colour of the @ is new.|Die Farbe G ist neu.
Where is the @?|Wo ist N?
The @ does not work any more.|N funktioniert nicht mehr.
Please open the @.|Bitte öffnen Sie A.
I do not like the @.|Ich mag A nicht.
My brother bought the @ in Berlin.|Mein Bruder hat A in Berlin gekauft.
The @ are here.|P sind hier.
The @ cost a lot of money.|P kosten viel Geld.
All my friends know the @.|Alle meine Freunde kennen A.
The man stood behind the @.|Der Mann stand hinter D.
The @ was the best of all.|N war A2 beste von allen.""".split("\n")

# Source, plural; gender; what the glossary wants in N/A, D, G and P; what the model may say by itself.
NOUNS = """car cars n Fahrzeug Fahrzeug Fahrzeugs Fahrzeuge Auto Wagen Autos
house houses n Gebäude Gebäude Gebäudes Gebäude Haus Häuser Hauses
phone phones n Mobilgerät Mobilgerät Mobilgeräts Mobilgeräte Telefon Handy Telefone Telefons
computer computers m Rechner Rechner Rechners Rechner Computer Computers
book books n Druckwerk Druckwerk Druckwerks Druckwerke Buch Bücher Buches Buchs
table tables m Arbeitstisch Arbeitstisch Arbeitstischs Arbeitstische Tisch Tische Tisches Tabelle
door doors f Pforte Pforte Pforte Pforten Tür Türen
window windows f Scheibe Scheibe Scheibe Scheiben Fenster Fensters
picture pictures n Gemälde Gemälde Gemäldes Gemälde Bild Bilder Bildes Foto
bag bags m Beutel Beutel Beutels Beutel Tasche Taschen
train trains f Bahn Bahn Bahn Bahnen Zug Züge Zuges Zugs
letter letters n Schreiben Schreiben Schreibens Schreiben Brief Briefe Briefes Briefs Buchstabe
machine machines f Anlage Anlage Anlage Anlagen Maschine Maschinen
bicycle bicycles n Zweirad Zweirad Zweirads Zweiräder Fahrrad Fahrräder Fahrrads
boat boats n Schiff Schiff Schiffs Schiffe Boot Boote Bootes Boots
garden gardens f Grünanlage Grünanlage Grünanlage Grünanlagen Garten Gärten Gartens
box boxes m Karton Karton Kartons Kartons Kiste Box Schachtel Kasten
chair chairs m Sessel Sessel Sessels Sessel Stuhl Stühle Stuhls
lamp lamps f Leuchte Leuchte Leuchte Leuchten Lampe Lampen
clock clocks m Zeitmesser Zeitmesser Zeitmessers Zeitmesser Uhr Uhren
camera cameras f Optik Optik Optik Optiken Kamera Kameras
ticket tickets f Fahrkarte Fahrkarte Fahrkarte Fahrkarten Ticket Tickets Karte
shop shops f Filiale Filiale Filiale Filialen Laden Geschäft Läden
school schools f Lehranstalt Lehranstalt Lehranstalt Lehranstalten Schule Schulen
road roads f Fahrbahn Fahrbahn Fahrbahn Fahrbahnen Straße Straßen
bridge bridges f Überführung Überführung Überführung Überführungen Brücke Brücken
knife knives f Klinge Klinge Klinge Klingen Messer Messers
bottle bottles n Gefäß Gefäß Gefäßes Gefäße Flasche Flaschen
key keys m Zugang Zugang Zugangs Zugänge Schlüssel Schlüssels
map maps m Plan Plan Plans Pläne Karte Karten Landkarte
coat coats f Jacke Jacke Jacke Jacken Mantel Mäntel Mantels
ring rings m Reif Reif Reifs Reife Ring Ringe Rings
wall walls f Mauer Mauer Mauer Mauern Wand Wände
song songs n Lied Lied Lieds Lieder Song Songs Titel
movie movies m Streifen Streifen Streifens Streifen Film Filme Films
newspaper newspapers n Blatt Blatt Blatts Blätter Zeitung Zeitungen
dress dresses n Gewand Gewand Gewands Gewänder Kleid Kleider Kleides
plate plates m Teller Teller Tellers Teller Platte Platten
spoon spoons m Schöpfer Schöpfer Schöpfers Schöpfer Löffel Löffels
glass glasses m Becher Becher Bechers Becher Glas Gläser Glases
shirt shirts n Oberteil Oberteil Oberteils Oberteile Hemd Hemden
gift gifts n Präsent Präsent Präsents Präsente Geschenk Geschenke
toy toys n Spielgerät Spielgerät Spielgeräts Spielgeräte Spielzeug Spielzeuge
tool tools n Hilfsmittel Hilfsmittel Hilfsmittels Hilfsmittel Werkzeug Werkzeuge
tree trees n Gehölz Gehölz Gehölzes Gehölze Baum Bäume
flower flowers f Blüte Blüte Blüte Blüten Blume Blumen
horse horses n Ross Ross Rosses Rosse Pferd Pferde
dog dogs m Vierbeiner Vierbeiner Vierbeiners Vierbeiner Hund Hunde
hotel hotels f Unterkunft Unterkunft Unterkunft Unterkünfte Hotel Hotels
office offices f Dienststelle Dienststelle Dienststelle Dienststellen Büro Büros Amt""".split("\n")

ARTICLES = {"m": {"N": "der", "A": "den", "D": "dem", "G": "des"},
            "f": {"N": "die", "A": "die", "D": "der", "G": "der"},
            "n": {"N": "das", "A": "das", "D": "dem", "G": "des"}}


class Noun:

    def __init__(self, line):
        self.source, self.plural, self.gender, self.nominative, self.dative, self.genitive, self.many, *self.own = \
            line.split()
        self.forms = list(dict.fromkeys([self.nominative, self.dative, self.genitive, self.many]))

    def phrase(self, case):
        """The article and the form."""
        if case == "P":
            return "die", self.many
        form = {"D": self.dative, "G": self.genitive}.get(case, self.nominative)
        return ARTICLES[self.gender][case], form


class Sentence:

    def __init__(self, pattern, noun):
        english, german = pattern.split("|")
        self.noun = noun
        case = re.search(r"\b[NADGP]\b", german).group()
        article, self.form = noun.phrase(case)
        self.text = english.replace("@", noun.plural if case == "P" else noun.source)
        german = german.replace("A2", ARTICLES[noun.gender]["N"])
        german = re.sub(r"\b[NADGP]\b", f"{article} {self.form}", german, count=1)
        self.reference = german[0].upper() + german[1:]


def has(text, form):
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None


def rest(text, noun):
    """The text without the term, in either choice of words, and without its article."""
    words = "|".join(re.escape(word) for word in sorted(noun.forms + noun.own, key=len, reverse=True))
    return re.sub(rf"(?i)(\b(der|die|das|den|dem|des)\s+)?\b({words})\b", "TERM", text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    own_server.add_build_flag(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--max-loss", type=float, nargs="*", default=[3.0])
    parser.add_argument("--parts", nargs="*", default=["written", "made", "cost"])
    parser.add_argument("--show", type=int, default=0, help="so many translations of each way")
    return parser.parse_args()


FLAGS = parse()
own_server.use_build(FLAGS.build)
sys.path.insert(0, os.path.join(own_server.ROOT, "tools", "evaluate"))

import harness  # noqa: E402
import metrics  # noqa: E402

pb = harness.pb


def write(directory, name, entries, languages=("en", "de"), ignore_case=False, inflect=False):
    path = os.path.join(directory, name + ".tsv")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"# languages: {' '.join(languages)}\n")
        file.write("# case: ignore\n" if ignore_case else "")
        file.write("# forms: endings\n" if inflect else "")
        file.writelines("\t".join(entry) + "\n" for entry in entries)
    os.rename(path + ".new", path)


def fillers(count):
    """Entries that no sentence has."""
    rng = random.Random(1)
    syllables = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu".split()
    return [["zz" + "".join(rng.choices(syllables, k=3)) + f" {i}", "Ding"] for i in range(count)]


class Bench:

    def __init__(self, directory):
        self.server = harness.Server(
            "--model", "en-de-fr-es=" + os.path.join(own_server.ROOT, "models", "en-de-fr-es"), "--workers", "1",
            "--store", f"sqlite:{directory}/store.db", "--log-level", "off", "--cache-bytes", "0")

    def cpu(self):
        nanoseconds = 0
        for path in glob.glob(f"/proc/{self.server.process.pid}/task/*/schedstat"):
            try:
                with open(path, encoding="ascii") as file:
                    nanoseconds += int(file.read().split()[0])
            except OSError:
                pass  # the thread has just ended
        return nanoseconds / 1e9

    def translate(self, texts, ids=(), own=None, max_loss=None, target="de"):
        """The translations; `own` has the glossary of each text's request."""
        found = []
        step = 50 if own is None else 1
        for i in range(0, len(texts), step):
            request = pb.TranslateRequest(contents=texts[i:i + step], source_language="en", target_language=target,
                                          glossary_ids=ids)
            if max_loss is not None:
                request.options.glossary_max_loss = max_loss
            if own is not None:
                request.options.glossary.extend(own[i])
            found += self.server.translation.Translate(request, timeout=120).translations
        return found


class Term:

    def __init__(self, line):
        self.source, self.plural, *forms = line.split("\t")
        self.sources = [source for source in (self.source, self.plural) if source != "-"]
        self.forms = {language: [form.replace("+", " ") for form in own.split()]
                      for language, own in zip(LANGUAGES, forms)}

    def is_in(self, text):
        return any(has(text.lower(), source.lower()) for source in self.sources)


LANGUAGES = ("de", "fr", "es")
WRITTEN = os.path.join(own_server.ROOT, "tests", "bench", "glossary")


def read(name):
    with open(os.path.join(WRITTEN, name), encoding="utf-8") as file:
        return file.read().splitlines()


def write_written(directory):
    for language in LANGUAGES:
        every = [Term(line) for line in read("terms.tsv")]
        for name, forms, inflect in (("exact", 1, False), ("endings", 1, True), ("forms", 99, False)):
            entries = [[source, *term.forms[language][:forms]] for term in every for source in term.sources]
            write(directory, f"written-{name}-{language}", entries, ("en", language), True, inflect)


def written(bench):
    every, texts = [Term(line) for line in read("terms.tsv")], read("sentences.txt")
    there = [[term for term in every if term.is_in(text)] for text in texts]
    print(f"{len(texts)} written sentences, {sum(map(len, there))} terms{'':7} right    unmet")
    for language in LANGUAGES:
        exact = [[pb.GlossaryEntry(source=source, target=term.forms[language][0], ignore_case=True)
                  for term in terms for source in term.sources] for terms in there]
        ways = {"no glossary": bench.translate(texts, target=language),
                "exact, in the request": bench.translate(texts, own=exact, target=language)}
        for name in ("exact", "endings", "forms"):
            ids = [f"written-{name}-{language}"]
            ways[name + ", stored"] = bench.translate(texts, ids, max_loss=FLAGS.max_loss[0], target=language)
        for name, translations in ways.items():
            said = [translation.hypotheses[0].text for translation in translations]
            pairs = [(term, text) for terms, text in zip(there, said) for term in terms]
            right = sum(any(has(text.lower(), form.lower()) for form in term.forms[language]) for term, text in pairs)
            unmet = sum(len(translation.glossary_unmet) for translation in translations)
            print(f"en-{language} {name:30} {100 * right / len(pairs):5.1f} % {unmet:6}")
            for text, target in list(zip(texts, said))[:10 * FLAGS.show:10]:
                print(f"    {text} | {target}")


def terms(bench, sentences):
    texts = [sentence.text for sentence in sentences]
    ways = {"no glossary": bench.translate(texts)}
    exact = [[pb.GlossaryEntry(source=s.noun.source, target=s.noun.nominative),
              pb.GlossaryEntry(source=s.noun.plural, target=s.noun.many)] for s in sentences]
    ways["exact, in the request"] = bench.translate(texts, own=exact)
    for max_loss in FLAGS.max_loss:
        ways[f"exact, stored, loss {max_loss:g}"] = bench.translate(texts, ["exact"], max_loss=max_loss)
        ways[f"endings, stored, loss {max_loss:g}"] = bench.translate(texts, ["endings"], max_loss=max_loss)
        ways[f"forms, stored, loss {max_loss:g}"] = bench.translate(texts, ["forms"], max_loss=max_loss)
    print(f"\n{len(texts)} made sentences{'':18} right    fits   unmet    BLEU    chrF of the rest")
    references = [rest(s.reference, s.noun) for s in sentences]
    for name, translations in ways.items():
        said = [translation.hypotheses[0].text for translation in translations]
        right = sum(any(has(text, form) for form in s.noun.forms) for s, text in zip(sentences, said))
        fits = sum(has(text, s.form) for s, text in zip(sentences, said))
        unmet = sum(len(translation.glossary_unmet) > 0 for translation in translations)
        masked = [rest(text, s.noun) for s, text in zip(sentences, said)]
        print(f"{name:36} {100 * right / len(said):5.1f} % {100 * fits / len(said):5.1f} % {unmet:6} "
              f"{metrics.bleu(masked, [[r] for r in references]).score:7.2f} "
              f"{metrics.chrf(masked, references):7.2f}")
        for sentence, text in list(zip(sentences, said))[:FLAGS.show]:
            print(f"    {sentence.text} | {text} | {sentence.reference}")


def cost(bench, sentences):
    texts = [sentence.text for sentence in sentences][::2]
    made = {"no glossary": [], "10 entries, none there": ["none10"], "1,000 entries, none there": ["none1000"],
            "100,000 entries, none there": ["none100000"], "10 entries": ["ten10"], "1,000 entries": ["ten1000"],
            "100,000 entries": ["ten100000"]}
    seconds = {name: [] for name in made}
    plain = [translation.hypotheses[0].text for translation in bench.translate(texts)]
    for name, ids in made.items():
        said = [translation.hypotheses[0].text for translation in bench.translate(texts, ids)]
        if name.endswith("there"):
            print(f"\n{name}: {sum(a != b for a, b in zip(plain, said))} of {len(said)} translations changed", end="")
    for turn in range(FLAGS.rounds):
        names = list(made)
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            before = bench.cpu()
            bench.translate(texts, made[name])
            seconds[name].append(bench.cpu() - before)
    print(f"\n\n{len(texts)} sentences{'':19} CPU ms   ratio")
    for name, own in seconds.items():
        base = seconds["10 entries" if name.endswith("entries") else "no glossary"]
        ratio = statistics.median(a / b for a, b in zip(own, base))
        print(f"{name:32} {1e3 * statistics.median(own):8.1f} {ratio:7.3f}")


def main():
    nouns = [Noun(line) for line in NOUNS]
    sentences = [Sentence(pattern, noun) for noun in nouns for pattern in PATTERNS]
    random.Random(7).shuffle(sentences)
    with tempfile.TemporaryDirectory() as directory:
        write(directory, "exact", [[n.source, n.nominative] for n in nouns] + [[n.plural, n.many] for n in nouns])
        write(directory, "endings", [[n.source, n.nominative] for n in nouns] + [[n.plural, n.many] for n in nouns],
              inflect=True)
        write_written(directory)
        write(directory, "forms", [[n.source, *n.forms] for n in nouns] + [[n.plural, *n.forms] for n in nouns])
        for count in (10, 1000, 100000):
            write(directory, f"none{count}", fillers(count))
            write(directory, f"ten{count}", [[n.source, *n.forms] for n in nouns[:10]] + fillers(count - 10))
        bench = Bench(directory)
        try:
            if "written" in FLAGS.parts:
                written(bench)
            if "made" in FLAGS.parts:
                terms(bench, sentences)
            if "cost" in FLAGS.parts:
                cost(bench, sentences)
        finally:
            bench.server.stop()


if __name__ == "__main__":
    main()
