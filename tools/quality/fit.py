#!/usr/bin/env python3
"""Fits the weights of Quality.score to translations with and without faults, and judges them on others.

    tools/quality/fit.py --held-out held-out --limit 1000 --work /tmp/quality --write

--held-out has the files validation.eng-deu.tsv, test.eng-deu.tsv and so on that tools/train writes.  The weights are
fitted to the validation pairs and the first half of the test pairs, and judged on the second half: once without the
features of a check in reverse, once with them.  A dragoman-server of the built-in model computes the features, so that
they are those it uses: one of --build is started, or that at --server is asked.  Its answers are kept in --work, and a
second run only fits.  --write replaces engine/request/quality_weights.inc.  Only Python's standard library is needed.
"""

import argparse
import atexit
import json
import os
import re
import subprocess
import sys
import urllib.request

import faults
import logistic

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODEL = os.path.join(ROOT, "models/en-de-fr-es")
WEIGHTS = os.path.join(ROOT, "engine/request/quality_weights.inc")
LANGUAGES = {"eng": "en", "deu": "de", "fra": "fr", "spa": "es"}
SOUND = "sound"


class Server:
    """The JSON API of a server: that at an address, or one that is started from a build."""

    def __init__(self, address: str | None, build: str):
        if address is None:
            process = subprocess.Popen(
                [os.path.join(build, "server/dragoman-server"), "--model", "en-de-fr-es=" + MODEL,
                 "--precision", "int8", "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
                 "--log-level", "off"], stdout=subprocess.PIPE, text=True)
            atexit.register(process.kill)
            listening = next((line for line in process.stdout if line.startswith("listening")), None)
            if not listening:
                sys.exit("the server did not start")
            address = "http://" + re.search(r" http=(\S+)", listening)[1]
        self.address = address

    def post(self, path: str, body: dict) -> dict:
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def translate(self, texts: list[str], target: str) -> list[str]:
        done = []
        for i in range(0, len(texts), 64):
            answer = self.post("/v1/translate", {
                "contents": texts[i:i + 64], "source_language": "en", "target_language": target,
                "sentence_splitting": "SENTENCE_SPLITTING_NONE", "literals": "LITERALS_OFF"})
            done += [each["hypotheses"][0]["text"] for each in answer["translations"]]
        return done

    def features(self, pairs: list[tuple[str, str]], target: str) -> list[dict]:
        done = []
        for i in range(0, len(pairs), 64):
            answer = self.post("/v1/score", {
                "pairs": [{"source": source, "target": text} for source, text in pairs[i:i + 64]],
                "source_language": "en", "target_language": target, "quality": True, "quality_features": True,
                "reverse_check": True})
            done += [each["quality"] for each in answer["scores"]]
        return done


def read_pairs(path: str) -> list[tuple[str, str]]:
    with open(path, encoding="utf-8") as file:
        pairs = [tuple(line.rstrip("\n").split("\t")[:2]) for line in file]
    return [pair for pair in pairs if all(part.strip() for part in pair) and max(map(len, pair)) < 600]


def make_rows(server: Server, held_out: str, code: str, part: str, base: str, limit: int) -> list[dict]:
    """Rows of one direction: {"kind", "group", "values"}.  `base` says whose translations get the faults: the
    references, or the model's own."""
    language, other = LANGUAGES[code], {"deu": "fr", "fra": "es", "spa": "de"}[code]
    pairs = read_pairs(os.path.join(held_out, f"{part}.eng-{code}.tsv"))[:limit]
    sources = [source for source, _ in pairs]
    if base == "own":
        pairs = list(zip(sources, server.translate(sources, language)))
    pool = faults.Pool([target for _, target in pairs], dict(zip(sources, server.translate(sources, other))))
    texts, rows = [], []
    for i, (source, target) in enumerate(pairs):
        group = f"{part}.{code}.{base}.{i}"
        made = faults.faults_of(source, target, language, pool, group)
        for kind, text in {SOUND: target, **made}.items():
            texts.append((source, text))
            rows.append({"kind": kind, "group": group, "texts": [source, text]})
    for row, quality in zip(rows, server.features(texts, language)):
        row["values"] = {each["name"]: each.get("value", 0.0) for each in quality.get("features", ())}
        row["words"] = [(word.get("begin", 0), word["end"], word.get("probability", 0.0))
                        for word in quality.get("doubtful", ())]
    return [row for row in rows if row["values"]]


def all_rows(flags: argparse.Namespace) -> dict[str, list[dict]]:
    """Rows by "PART.LANGUAGE.BASE", from --work or the server."""
    os.makedirs(flags.work, exist_ok=True)
    found, server = {}, None
    for code in ("deu", "fra", "spa"):
        for part in ("validation", "test"):
            for base in ("reference", "own"):
                name = f"{part}.{code}.{base}"
                path = os.path.join(flags.work, name + ".json")
                if not os.path.exists(path):
                    server = server or Server(flags.server, flags.build)
                    rows = make_rows(server, flags.held_out, code, part, base, flags.limit)
                    with open(path + ".new", "w", encoding="utf-8") as file:
                        json.dump(rows, file)
                    os.rename(path + ".new", path)
                with open(path, encoding="utf-8") as file:
                    found[name] = json.load(file)
    return found


def place_of(row: dict) -> int:
    return int(row["group"].rsplit(".", 1)[1])


def weights_of(rows: list[dict]) -> list[float]:
    """A sound translation counts 1.  All faults together count as much as all of those, and each kind the same, however
    few pairs have a place for it."""
    count: dict[str, int] = {}
    for row in rows:
        count[row["kind"]] = count.get(row["kind"], 0) + 1
    share = count[SOUND] / (len(count) - 1)
    return [1.0 if row["kind"] == SOUND else share / count[row["kind"]] for row in rows]


def score(row: dict, names: list[str], found: list[float]) -> float:
    return logistic.logistic(found[-1] + sum(w * row["values"][name] for name, w in zip(names, found)))


def report(rows: list[dict], scores: list[float], title: str) -> None:
    """A line of the table of AUROC."""
    by_kind = {kind: [s for row, s in zip(rows, scores) if row["kind"] == kind] for kind in (SOUND, *faults.KINDS)}
    sound = by_kind[SOUND]
    bad = [s for row, s in zip(rows, scores) if row["kind"] != SOUND]
    cells = [f"{logistic.auroc(sound, by_kind[kind]):.3f} ({len(by_kind[kind])})" for kind in faults.KINDS]
    print(f"| {title} | {logistic.auroc(sound, bad):.3f} ({len(sound)}) | " + " | ".join(cells) + " |")


def calibrate(judged: dict[str, tuple[list[dict], list[float]]]) -> None:
    """Prints the part of the translations that is sound, by score."""
    tables = []
    for ends in ("reference", "own", ""):
        rows = [row for name, (part, _) in judged.items() if name.endswith(ends) for row in part]
        scores = [s for name, (_, part) in judged.items() if name.endswith(ends) for s in part]
        tables.append(logistic.calibration(scores, [int(row["kind"] == SOUND) for row in rows], weights_of(rows)))
    print("\n| score | mean of all | sound: references | own | all | translations |\n|" + "---|" * 6)
    for i, (references, own, both) in enumerate(zip(*tables)):
        print(f"| {i / 10:.1f} to {(i + 1) / 10:.1f} | {both[0]:.2f} | {references[1]:.2f} | {own[1]:.2f} | "
              f"{both[1]:.2f} | {both[3]} |")
    _, _, both = tables
    total = sum(weight for _, _, weight, count in both if count)
    error = sum(weight * abs(mean - good) for mean, good, weight, count in both if count) / total
    print(f"\nexpected calibration error {error:.3f}")


def write_weights(names: list[str], alone: list[float], checked: list[float]) -> None:
    with open(WEIGHTS, "w", encoding="utf-8") as file:
        file.write("// Written by tools/quality/fit.py.\n")
        file.write(f'constexpr Weight kBias = {{"bias", {alone[-1]:.5f}f, {checked[-1]:.5f}f}};\n')
        file.write("constexpr Weight kWeights[] = {\n")
        padded = alone[:-1] + [0.0] * (len(names) - len(alone) + 1)
        for name, weight, other in zip(names, padded, checked):
            file.write(f'    {{"{name}", {weight:.5f}f, {other:.5f}f}},\n')
        file.write("};\n")


def fit(train: list[dict], names: list[str], ridge: float) -> list[float]:
    found = logistic.fit([[row["values"][name] for name in names] for row in train],
                         [int(row["kind"] == SOUND) for row in train], weights_of(train), ridge)
    for name, weight in zip([*names, "bias"], found):
        print(f"{name:22} {weight:9.4f}")
    return found


def judge(judged: dict[str, list[dict]], names: list[str], found: list[float]) -> None:
    print("| AUROC (number) | all | " + " | ".join(faults.KINDS) + " |\n|---|" + "---|" * (len(faults.KINDS) + 1))
    scored = {name: (rows, [score(row, names, found) for row in rows]) for name, rows in judged.items()}
    for base in ("reference", "own"):
        for code in ("deu", "fra", "spa"):
            report(*scored[f"test.{code}.{base}"], f"eng-{code}, {base}")
        chosen = [each for name, each in scored.items() if name.endswith(base)]
        report(sum((rows for rows, _ in chosen), []), sum((part for _, part in chosen), []), f"all, {base}")
    calibrate(scored)


def known(rows: list[dict], names: list[str]) -> list[dict]:
    """The rows that have these features: the other direction cannot read every text."""
    return [row for row in rows if row["values"].keys() >= set(names)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", default="held-out")
    parser.add_argument("--server", help="its address; without one, a server is started")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--work", default="/tmp/quality")
    parser.add_argument("--limit", type=int, default=2000, help="pairs of each file")
    parser.add_argument("--ridge", type=float, default=3.0)
    parser.add_argument("--write", action="store_true")
    flags = parser.parse_args()
    parts = all_rows(flags)
    half = flags.limit // 2
    train = [row for name, rows in parts.items() for row in rows
             if name.startswith("validation") or place_of(row) < half]
    judged = {name: [row for row in rows if place_of(row) >= half]
              for name, rows in parts.items() if name.startswith("test")}
    names = list(train[0]["values"])
    print(f"fitted to {len(train)} translations")
    found = []
    for title, chosen in (("without a check in reverse", [each for each in names if not each.startswith("reverse_")]),
                          ("with one", names)):
        print(f"\n{title}\n")
        found.append(fit(known(train, chosen), chosen, flags.ridge))
        print()
        judge({name: known(rows, chosen) for name, rows in judged.items()}, chosen, found[-1])
    if flags.write:
        write_weights(names, *found)


if __name__ == "__main__":
    sys.exit(main())
