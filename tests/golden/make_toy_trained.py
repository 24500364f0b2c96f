"""Trains models/toy-trained with tools/train and writes expected/toy-trained/golden.json.

    python3 tests/golden/make_toy_trained.py      # needs PyTorch, transformers and sentencepiece

The model is as the tool writes it.  Of 40 held-out sentences of each direction the file has the tokens of the source,
greedy search's, and the four hypotheses of beam search with their log-probabilities, by transformers.  The search and
the log-probabilities of tools/train must agree.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "..", "..", "tools", "train")
sys.path[:0] = [TOOLS, os.path.join(HERE, "..", "tools")]

import torch
import transformers

import export
import search
import toy_language
from vocabulary import EOS

MODEL = os.path.join(HERE, "models", "toy-trained")
EXPECTED = os.path.join(HERE, "expected", "toy-trained")
BEAM = 4


def train(folder):
    flags = toy_language.write(folder, way="-to-")
    subprocess.run([sys.executable, os.path.join(TOOLS, "train.py"), *flags, "--profile", "toy", "--threads", "1",
                    "--device", "cpu", "--out", folder], check=True)
    shutil.rmtree(MODEL, ignore_errors=True)
    shutil.copytree(os.path.join(folder, "model"), MODEL)


def expected(model, pytorch, vocabulary, text, language):
    source = vocabulary.encode_source(text, language)
    ids = torch.tensor([source])
    greedy = model.generate(ids, num_beams=1, do_sample=False)[0].tolist()[1:]  # after the decoder start
    assert greedy == search.greedy(pytorch, [source], 100)[0] + [EOS], text
    hypotheses = []
    for row in model.generate(ids, num_beams=BEAM, num_return_sequences=BEAM).tolist():
        target = row[1:row.index(EOS) + 1]
        logits = model(input_ids=ids, decoder_input_ids=torch.tensor([row[:len(target)]])).logits[0].double()
        logits[:, vocabulary.pad] = -torch.inf
        score = torch.log_softmax(logits, 1).gather(1, torch.tensor(target)[:, None]).sum().item()
        ours = search.log_probabilities(pytorch, source, target).double().sum().item()
        assert abs(score - ours) < 1e-4, (text, score, ours)
        hypotheses.append({"ids": target, "log_probability": round(score, 6)})
    return {"text": text, "source": source, "greedy": greedy, "hypotheses": hypotheses}


@torch.no_grad()
def main():
    with tempfile.TemporaryDirectory() as folder:
        train(folder)
        pytorch, vocabulary = export.load(MODEL)
        model = transformers.MarianMTModel.from_pretrained(MODEL, dtype=torch.float32).eval()
        directions = {}
        for language in ("fra", "deu"):
            with open(os.path.join(folder, "held-out", f"test.eng-{language}.tsv"), encoding="utf-8") as file:
                texts = [line.split("\t")[0] for line in file]
            directions[language] = [expected(model, pytorch, vocabulary, text, language) for text in texts]
    os.makedirs(EXPECTED, exist_ok=True)
    with open(os.path.join(EXPECTED, "golden.json"), "w", encoding="utf-8") as file:
        meta = {"torch": torch.__version__, "transformers": transformers.__version__}
        file.write(f'{{"meta": {json.dumps(meta)}')
        for language, lines in directions.items():
            file.write(f',\n"{language}": [\n' + ",\n".join(map(json.dumps, lines)) + "\n]")
        file.write("}\n")


if __name__ == "__main__":
    main()
