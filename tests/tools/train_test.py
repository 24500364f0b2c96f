"""What of tools/train needs PyTorch, part by part; tests/e2e tests that the server can serve its models."""

import contextlib
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import torch

from toy_text import ROOT, ToyTextTest  # which finds tools/train

import batches
import export
import search
import slice as slices
import text
import train
import trainer
import validation
import vocabulary
from flags import PROFILES
from model import Attention, ModelSize, Transformer, sinusoids

torch.set_num_threads(1)
SIZE = ModelSize(vocabulary=20, width=16, feed_forward=32, heads=4, encoder_layers=2,
                 decoder_layers=2)


def random_tokens(*shape: int) -> torch.Tensor:
    return torch.randint(2, SIZE.pad, shape)


class ModelTest(unittest.TestCase):

    def setUp(self):
        torch.manual_seed(1)
        self.model = Transformer(SIZE).eval()

    def test_no_position_sees_a_later_one(self):
        source, target = random_tokens(1, 5), random_tokens(1, 8)
        before = self.model(source, target)
        for t in range(1, 8):
            changed = target.clone()
            changed[0, t:] = (changed[0, t:] - 1) % SIZE.pad
            after = self.model(source, changed)
            torch.testing.assert_close(before[0, :t], after[0, :t], rtol=0, atol=0)
            self.assertFalse(torch.allclose(before[0, t], after[0, t]))

    def test_sinusoids_of_two_orders_have_the_same_numbers(self):
        halves, interleaved = sinusoids(6, 8), sinusoids(6, 8, interleaved=True)
        torch.testing.assert_close(interleaved[:, 0::2], halves[:, :4], rtol=0, atol=0)
        torch.testing.assert_close(interleaved[:, 1::2], halves[:, 4:], rtol=0, atol=0)

    def test_padding_changes_nothing(self):
        source, target = random_tokens(1, 5), random_tokens(1, 4)
        longer = torch.cat([source, torch.full((1, 3), SIZE.pad)], dim=1)
        torch.testing.assert_close(self.model(source, target), self.model(longer, target))

    def test_every_source_token_matters_to_every_position(self):
        source, target = random_tokens(1, 5), random_tokens(1, 3)
        before = self.model(source, target)
        for s in range(5):
            changed = source.clone()
            changed[0, s] = (changed[0, s] + 1) % SIZE.pad
            difference = (self.model(changed, target) - before).abs().amax(dim=(0, 2))
            self.assertTrue((difference > 1e-6).all())

    def test_the_profile_base_is_that_of_the_paper(self):
        base = PROFILES["base"]
        with torch.device("meta"):
            model = Transformer(ModelSize(**{name: base[name] for name in (
                "vocabulary", "width", "feed_forward", "heads", "encoder_layers", "decoder_layers")}))
        # Table 3: N = 6, d_model = 512, d_ff = 2048, h = 8: 65 million.
        self.assertEqual((base["encoder_layers"], base["width"], base["feed_forward"], base["heads"]),
                         (6, 512, 2048, 8))
        self.assertEqual(round(sum(p.numel() for p in model.parameters()) / 1e6), 63)

    def test_greedy_search_takes_the_likeliest_token_each_time(self):
        sources = [random_tokens(4).tolist(), random_tokens(7).tolist()]
        for source, ids in zip(sources, search.greedy(self.model, sources, max_tokens=6)):
            decoder_input = torch.tensor([[SIZE.pad] + ids])
            best = self.model(torch.tensor([source]), decoder_input)[0].argmax(dim=1).tolist()
            self.assertEqual(best[:len(ids)], ids)
            self.assertTrue(len(ids) == 6 or best[-1] == vocabulary.EOS)
            target = ids + [vocabulary.EOS]
            logits = self.model(torch.tensor([source]), decoder_input)[0]
            want = [row.log_softmax(0)[token] for row, token in zip(logits, target)]
            torch.testing.assert_close(
                search.log_probabilities(self.model, source, target), torch.stack(want))


class WorkedExamplesTest(unittest.TestCase):
    """The numbers with which attention and positions are often explained; tests/model has them, too."""

    def attend(self, query, key, value, x, memory):
        """What x makes of the memory with one head."""
        width = len(x)
        attention = Attention(width, heads=1)
        with torch.no_grad():
            for projection, weight in ((attention.q_proj, query), (attention.k_proj, key),
                                       (attention.v_proj, value), (attention.out_proj, torch.eye(width))):
                projection.weight.copy_(weight)
                projection.bias.zero_()
            return attention(x[None, None], memory[None], torch.tensor(True))[0, 0]

    def test_scores_are_divided_by_eight_and_become_shares(self):
        for scores, shares in (((112, 96), (0.88079708, 0.11920292)),  # 14 and 12
                               ((8, 16), (0.26894142, 0.73105858)),  # 1 and 2
                               ((80, 160), (4.5397869e-05, 0.99995460))):
            x, memory = torch.zeros(64), torch.zeros(2, 64)
            x[0] = 1
            memory[:, 0] = torch.tensor(scores)
            memory[0, 1] = memory[1, 2] = 1
            got = self.attend(torch.eye(64), torch.eye(64), torch.eye(64), x, memory)
            torch.testing.assert_close(got[1:3], torch.tensor(shares), rtol=0, atol=1e-7)

    def test_the_example_of_a_lecture(self):
        with open(os.path.join(ROOT, "tests/golden/attention.json"), encoding="utf-8") as file:
            example = {name: torch.tensor(numbers) for name, numbers in json.load(file).items()}
        words, second, eye = example["words"], example["words"][1], torch.eye(16)
        query, key = example["query"], example["key"]
        scores = (words @ key.T) @ (query @ second)
        torch.testing.assert_close(scores, example["scores"])
        torch.testing.assert_close(torch.softmax(scores / 4, dim=0), example["attention"])
        for got, want in (
                (self.attend(query, key, example["value"], second, words), example["context"]),
                (self.attend(4 * eye, eye, eye, second, words), example["context_without_projections"]),
                # What attends to a single row returns its value.
                (self.attend(eye, eye, example["third_head_key"], second, second[None]),
                 example["third_head_key_of_second"])):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-4)

    def test_positions_of_four_numbers(self):
        want = torch.tensor([[0, 1, 0, 1], [0.84147098, 0.54030231, 0.00999983, 0.99995000],
                             [0.90929743, -0.41614684, 0.01999867, 0.99980001],
                             [0.14112001, -0.98999250, 0.02999550, 0.99955003]])
        torch.testing.assert_close(sinusoids(4, 4, interleaved=True), want, rtol=0, atol=1e-7)
        torch.testing.assert_close(sinusoids(4, 4), want[:, [0, 2, 1, 3]], rtol=0, atol=1e-7)

    def test_positions_of_twenty_words_in_512_numbers(self):
        halves, interleaved = sinusoids(20, 512)[19], sinusoids(20, 512, interleaved=True)[19]
        for i, sine, cosine in ((0, 0.14987721, 0.98870462), (1, -0.49773482, 0.86732926),
                                (128, 0.18885889, 0.98200424), (255, 0.00196960, 0.99999806)):
            want = torch.tensor([sine, cosine])
            torch.testing.assert_close(halves[[i, 256 + i]], want, rtol=0, atol=1e-7)
            torch.testing.assert_close(interleaved[[2 * i, 2 * i + 1]], want, rtol=0, atol=1e-7)


class TrainingTest(unittest.TestCase):

    def test_learning_rate_is_that_of_the_paper(self):
        # d_model 512, warm-up 4000: the peak is 512^-0.5 * 4000^-0.5.
        peak = trainer.peak_learning_rate(512, 4000)
        self.assertAlmostEqual(trainer.learning_rate(1, peak, 4000), 1.746928e-07, places=12)
        self.assertAlmostEqual(trainer.learning_rate(4000, peak, 4000), 6.987712e-04, places=9)
        self.assertAlmostEqual(trainer.learning_rate(16000, peak, 4000), 3.493856e-04, places=9)

    def test_label_smoothing_is_its_formula(self):
        torch.manual_seed(2)
        logits, target = torch.randn(2, 3, SIZE.pad), random_tokens(2, 3)
        target[1, 2] = SIZE.pad  # padding does not count
        log_p = logits.log_softmax(dim=2)
        losses = [-0.9 * log_p[b, t, target[b, t]] - 0.1 / SIZE.pad * log_p[b, t].sum()
                  for b, t in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))]
        torch.testing.assert_close(trainer.smoothed_loss(logits, target, 0.1),
                                   torch.stack(losses).mean())

    def test_average_forgets_its_first_steps_faster(self):
        model = Transformer(SIZE)
        average = trainer.WeightAverage(model, decay=0.5)
        with torch.no_grad():
            for weight in model.parameters():
                weight.fill_(1.0)
            for weight in average.weights.values():
                weight.zero_()
        average.update(step=1)  # decay 2 / 11
        torch.testing.assert_close(average.weights["shared.weight"][0, 0], torch.tensor(9 / 11))
        average.update(step=1000)  # decay 0.5
        torch.testing.assert_close(average.weights["shared.weight"][0, 0], torch.tensor(10 / 11))
        with average.in_place() as averaged:
            self.assertAlmostEqual(averaged.shared.weight[0, 0].item(), 10 / 11, places=6)
        self.assertEqual(model.shared.weight[0, 0].item(), 1.0)



class ToyCorpusTest(ToyTextTest):

    def corpus(self, max_tokens=100, share=1.0) -> batches.Corpus:
        corpus = batches.Corpus(self.vocabulary, max_tokens)
        for t in self.texts:
            corpus.add(t.pairs, t.languages, [("eng", "fra"), ("eng", "deu")], share)
        return corpus

    def trainer(self, share=1.0, **settings) -> trainer.Trainer:
        torch.manual_seed(3)
        size = ModelSize(len(self.vocabulary), 16, 32, 2, 1, 1)
        return trainer.Trainer(
            Transformer(size, dropout=0.2), self.corpus(share=share),
            trainer.TrainingSettings(**{"batch_tokens": 3000, "warmup": 10, "bfloat16": False,
                                        "peak_learning_rate": 0.01} | settings),
            torch.device("cpu"))


class BatchesTest(ToyCorpusTest):

    def test_every_pair_is_in_one_batch_within_the_budget(self):
        corpus = self.corpus()
        for budget in (9, 64, 100_000):
            chosen = corpus.batches(budget, seed=1)
            self.assertEqual(sorted(i for batch in chosen for i in batch), list(range(len(corpus))))
            for batch in map(corpus.collate, chosen):
                self.assertLessEqual(max(batch.source.numel(), batch.target.numel()), budget)

    def test_contractions_are_written_out_in_english_targets_alone(self):
        tagged = vocabulary.Vocabulary(self.vocabulary.path, ["eng", "fra"])
        corpus = batches.Corpus(tagged, 100, write_out_contractions=True)
        corpus.add([("I'm one", "I'm un"), ("two", "deux")], ("eng", "fra"),
                   [("eng", "fra"), ("fra", "eng")])
        encode = tagged.encode
        self.assertNotEqual(encode(["I'm one"]), encode(["I am one"]))
        sources, targets = zip(*map(corpus.example, range(len(corpus))))
        self.assertEqual([source[1:-1] for source in sources],
                         encode(["I'm one", "I'm un", "two", "deux"]))
        self.assertEqual([target[:-1] for target in targets],
                         encode(["I'm un", "I am one", "deux", "two"]))

    def test_an_epoch_draws_a_share_anew(self):
        corpus = batches.Corpus(self.vocabulary, 100)
        whole, part = self.texts
        corpus.add(whole.pairs, whole.languages, [("eng", "fra"), ("eng", "deu")])
        first_of_part = len(corpus)
        corpus.add(part.pairs, part.languages, [("eng", "fra"), ("eng", "deu")], share=0.25)
        epochs = [sorted(i for batch in corpus.batches(100, seed) for i in batch)
                  for seed in (1, 2)]
        drawn = []
        for epoch in epochs:
            self.assertEqual(len(set(epoch)), len(epoch))
            self.assertEqual(epoch[:first_of_part], list(range(first_of_part)))
            drawn.append(set(epoch[first_of_part:]))
            self.assertAlmostEqual(len(drawn[-1]) / len(part.pairs), 0.25, delta=0.1)
        self.assertNotEqual(*drawn)

    def test_a_share_above_one_puts_copies_into_batches_of_other_text(self):
        corpus = self.corpus()
        often = len(corpus)
        corpus.add([("one", "un")], ("eng", "fra"), [("eng", "fra")], share=7)
        length = len(corpus.example(often)[0])
        for seed in (1, 2):
            chosen = corpus.batches(100, seed)
            copies = [batch for batch in chosen if often in batch]
            self.assertEqual([batch.count(often) for batch in copies], [1] * 7)
            self.assertTrue(all(len(batch) > 1 for batch in copies))
            lengths = {max(len(corpus.example(i)[0]) for i in batch) for batch in copies}
            self.assertGreater(len(lengths), 2)
            self.assertGreaterEqual(min(lengths), length)
            self.assertEqual(sum(map(len, chosen)), often + 7)
        self.assertNotEqual(*([b.count(often) for b in corpus.batches(100, s)] for s in (1, 2)))

    def test_noise_is_in_sources_alone(self):
        corpus = batches.Corpus(self.vocabulary, 100, noise=0.5)
        clean = self.texts[0].pairs[:200]
        corpus.add(clean, ("eng", "fra"), [("eng", "fra")], share=0.5)
        targets = {tuple(ids + [vocabulary.EOS]) for ids in
                   self.vocabulary.encode([pair[1] for pair in clean])}
        examples = [corpus.example(i) for i in range(len(corpus))]
        self.assertEqual({tuple(target) for _, target in examples}, targets)
        self.assertGreater(len(corpus), len(clean))
        self.assertAlmostEqual(corpus.epoch_size(),
                               0.5 * len(clean) + 0.25 * (len(corpus) - len(clean)))

    def test_a_pair_that_is_seen_often_is_spoiled_in_several_ways(self):
        corpus = batches.Corpus(self.vocabulary, 100, noise=0.5)
        corpus.add([("One, two: 'three'!", "un")], ("eng", "fra"), [("eng", "fra")], share=8)
        self.assertGreater(len(corpus), 3)
        self.assertAlmostEqual(corpus.epoch_size(), 8 + 4)

    def test_a_pair_over_the_budget_has_a_batch_to_itself(self):
        corpus = self.corpus()
        self.assertEqual(len(corpus.batches(1, seed=1)), len(corpus))

    def test_the_seed_decides(self):
        corpus = self.corpus()
        first, again, other = (
            corpus.batches(100, seed) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_a_batch_is_what_teacher_forcing_needs(self):
        corpus = self.corpus()
        i, j = 0, len(corpus) - 1
        batch = corpus.collate([i, j])
        pad = self.vocabulary.pad
        for row, example in enumerate((i, j)):
            source, target = corpus.example(example)
            self.assertEqual(batch.source[row, :len(source)].tolist(), source)
            self.assertEqual(batch.target[row, :len(target)].tolist(), target)
            self.assertEqual(batch.decoder_input[row, :len(target)].tolist(), [pad] + target[:-1])
            self.assertTrue((batch.target[row, len(target):] == pad).all())
        self.assertEqual(batch.target_tokens, (batch.target != pad).sum().item())

    def test_pairs_that_are_too_long_are_counted(self):
        corpus = self.corpus(max_tokens=6)
        self.assertGreater(corpus.dropped, 0)
        self.assertEqual(len(corpus) + corpus.dropped, sum(len(t.pairs) for t in self.texts))
        for i in range(len(corpus)):
            self.assertLessEqual(max(map(len, corpus.example(i))), 6)


class TrainerTest(ToyCorpusTest):

    def test_a_run_that_was_stopped_is_the_run_that_was_not(self):
        straight = self.trainer()
        losses = [straight.step()[0] for _ in range(12)]
        stopped = self.trainer()
        for _ in range(5):
            stopped.step()
        path = os.path.join(self.folder, "checkpoint.pt")
        stopped.save(path)
        resumed = self.trainer()
        torch.manual_seed(99)  # the generator may be in any state
        resumed.load(path)
        self.assertGreater(straight.progress.epoch, 1)  # the run crosses the end of an epoch
        self.assertEqual([resumed.step()[0] for _ in range(7)], losses[5:])
        for ours, theirs in ((resumed.model.state_dict(), straight.model.state_dict()),
                             (resumed.average.weights, straight.average.weights)):
            for name in theirs:
                torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=0)

    def test_goes_on_with_the_batches_of_its_start_alone(self):
        path = os.path.join(self.folder, "other.pt")
        self.trainer().save(path)
        other = self.trainer(batch_tokens=200)
        with self.assertRaisesRegex(text.InputError, "batch_tokens 3000, want 200"):
            other.load(path)
        self.trainer(dropout=0.3, peak_learning_rate=0.1, average_decay=0.9).load(path)

    def test_other_shares_of_the_text_begin_a_new_epoch(self):
        path = os.path.join(self.folder, "shares.pt")
        whole = self.trainer(batch_tokens=200)
        for _ in range(3):
            whole.step()
        whole.save(path)
        for share, place in ((1.0, (0, 3)), (0.02, (1, 0))):
            part = self.trainer(share, batch_tokens=200)
            part.load(path)
            self.assertEqual((part.progress.epoch, part.progress.batch), place)
            part.step()

    def test_cools_down_along_a_line(self):
        run = self.trainer(warmup=1)
        run.cool_down = range(3, 7)  # steps 3 to 6
        for step, share in ((2, 1.0), (3, 1.0), (4, 0.75), (6, 0.25), (7, 1.0)):
            self.assertAlmostEqual(run.learning_rate_at(step), 0.01 * step ** -0.5 * share)

    def test_the_row_of_pad_stays_zero(self):
        run = self.trainer()
        for _ in range(3):
            run.step()
        self.assertFalse(run.model.shared.weight[-1].any())
        self.assertFalse(run.average.weights["shared.weight"][-1].any())


class CommandTest(ToyCorpusTest):

    def run_train(self, *flags: str, data=None) -> tuple[int, str, str]:
        """Returns the exit code, standard output and standard error of a few quick steps."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = train.main([
                *(data or self.flags), "--profile", "toy", "--threads", "1", "--device", "cpu",
                "--test-pairs", "6", "--validation-pairs", "6", "--report-every", "5", *flags])
        return code, out.getvalue(), err.getvalue()

    def test_writes_a_directory_that_resuming_ends_the_same_way(self):
        whole, parts = (os.path.join(self.folder, name) for name in ("whole", "parts"))
        code, out, err = self.run_train("--out", whole, "--steps", "30", "--validate-every", "15")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"step 30  epoch \d+  loss \d.\d+  rate .* target tokens/s  0.0 min")
        self.run_train("--out", parts, "--steps", "15", "--validate-every", "15")
        code, _, err = self.run_train("--out", parts, "--steps", "30", "--validate-every", "15",
                                      "--resume", "--note", "Numbers.")
        self.assertEqual(code, 0, err)
        for name in ("model.safetensors", "vocab.json", "config.json"):
            with open(f"{whole}/model/{name}", "rb") as a, open(f"{parts}/model/{name}", "rb") as b:
                self.assertEqual(a.read(), b.read(), name)
        with open(f"{parts}/curves.jsonl", encoding="utf-8") as file:
            steps = [json.loads(line)["step"] for line in file]
        self.assertEqual(steps, [5, 10, 15, 15, 20, 25, 30, 30])
        with open(f"{parts}/model/README.md", encoding="utf-8") as file:
            card = file.read()
        self.assertIn("- Numbers.", card)
        self.assertIn("30 steps of up to 400 tokens", card)
        self.assertIn("| deu-eng |", card)
        self.assertIn("train.py --data eng-fra=eng-fra.tsv", card)
        self.assertIn("--out parts", card)
        self.assertNotIn(self.folder, card)
        self.assertNotIn("--resume", card)

    def test_a_run_goes_on_from_before_its_cool_down(self):
        straight, cooled = (os.path.join(self.folder, name) for name in ("straight", "cooled"))
        steps = ("--warmup", "5", "--learning-rate", "0.01", "--validate-every", "10", "--steps")
        code, _, err = self.run_train("--out", straight, *steps, "30")
        self.assertEqual(code, 0, err)
        self.run_train("--out", cooled, *steps, "20", "--cool-down", "8")
        with open(f"{cooled}/curves.jsonl", encoding="utf-8") as file:
            rates = {r["step"]: r["learning_rate"] for r in map(json.loads, file) if "loss" in r}
        self.assertLess(rates[20], rates[15])
        self.assertLess(rates[15], rates[10])
        self.assertEqual(torch.load(f"{cooled}/checkpoint.pt", weights_only=False)
                         ["progress"]["step"], 12)
        models = []
        for out in (straight, cooled):
            self.run_train("--out", out, *steps, "30", "--resume")
            with open(f"{out}/model/model.safetensors", "rb") as file:
                models.append(file.read())
        self.assertEqual(*models)

    def test_starts_from_a_model_of_other_languages(self):
        first, second = (os.path.join(self.folder, name) for name in ("first", "second"))
        german = ("--data", f"eng-to-deu={self.folder}/eng-deu.tsv")
        self.run_train("--out", first, "--steps", "3", data=german)
        code, out, err = self.run_train("--out", second, "--steps", "1", "--learning-rate", "1e-9",
                                        "--warm-start", f"{first}/model")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"\d+ pieces of ")
        (old, known), (new, own) = (export.load(f"{path}/model") for path in (first, second))
        for piece in ("▁one", "</s>"):
            torch.testing.assert_close(new.shared.weight[own.pieces.index(piece)],
                                       old.shared.weight[known.pieces.index(piece)])
        torch.testing.assert_close(new.decoder.layers[0].fc1.weight,
                                   old.decoder.layers[0].fc1.weight)
        code, _, err = self.run_train("--out", f"{second}2", "--width", "64",
                                      "--warm-start", f"{first}/model")
        self.assertEqual(code, 1)
        self.assertIn("want the flags'", err)

    def test_more_text_goes_on_with_the_pieces_of_a_model(self):
        first, second = (os.path.join(self.folder, name) for name in ("few", "more"))
        data = ("--data", f"eng-deu={self.folder}/eng-deu.tsv")
        self.run_train("--out", first, "--steps", "3", data=data)
        german = export.load(f"{first}/model")[1].pieces
        flags = ("--out", second, "--vocabulary-from", f"{first}/model", "--steps")
        code, out, err = self.run_train(*flags, "2", "--warm-start", f"{first}/model", data=data)
        self.assertEqual(code, 0, err)
        self.assertIn(f"{len(german)} pieces of ", out)
        phrases = os.path.join(self.folder, "phrases.tsv")
        with open(phrases, "w", encoding="utf-8") as file:
            file.write("one\teins\n")
        more = (*data, "--data", f"eng-from-deu@3={phrases}", "--noise", "0.5")
        code, _, err = self.run_train(*flags, "4", "--resume", data=more)
        self.assertEqual(code, 0, err)
        self.assertEqual(export.load(f"{second}/model")[1].pieces, german)
        with open(f"{second}/model/README.md", encoding="utf-8") as file:
            self.assertIn("--vocabulary-from model", file.read())

    def test_says_that_there_is_nothing_to_train_on(self):
        for flags, message in ((("--max-tokens", "2"), "no training pair has at most --max-tokens 2"),
                               (("--test-pairs", "100000"), "want at least 100006")):
            code, _, err = self.run_train("--out", os.path.join(self.folder, "empty"), *flags)
            self.assertEqual((code, err.count("\n")), (1, 1), err)
            self.assertIn(message, err)

    def test_a_signal_ends_a_run_in_good_order(self):
        out = os.path.join(self.folder, "ended")
        with subprocess.Popen(
                [sys.executable, train.__file__, *self.flags, "--profile", "toy", "--threads", "1",
                 "--device", "cpu", "--test-pairs", "6", "--validation-pairs", "6",
                 "--report-every", "1", "--steps", "1000000", "--validate-every", "1000000",
                 "--out", out], stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("step 3 "):
                    process.terminate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(line, f"wrote {out}/model\n")
        self.assertTrue(os.path.exists(out + "/checkpoint.pt"))

    def test_what_was_exported_is_the_average(self):
        out = os.path.join(self.folder, "exported")
        self.run_train("--out", out, "--steps", "3", "--validate-every", "3")
        model, loaded = export.load(out + "/model")
        state = torch.load(out + "/checkpoint.pt", weights_only=False)
        for name, weight in model.named_parameters():
            torch.testing.assert_close(weight, state["average"][name], rtol=1e-3, atol=1e-6)
        self.assertEqual(loaded.languages, ["deu", "eng", "fra"])
        translations = validation.translate(model, loaded, ["one two", "three"], "fra")
        self.assertEqual(len(translations), 2)

    def test_says_what_is_wrong(self):
        out = ("--out", os.path.join(self.folder, "wrong"))
        begun = os.path.join(self.folder, "begun")
        self.run_train("--out", begun, "--steps", "1")
        for flags, message in (
                ((*out, "--vocabulary-from", "/nowhere"), "--vocabulary-from /nowhere: "),
                ((*out, "--resume"), "--resume: there is no "),
                (("--out", begun), f"{begun} has a run: --resume it"),
                (("--out", begun, "--resume", "--width", "64"), "was trained with width 32, want"),
                ((*out, "--test-pairs", "4000"), "distinct pairs, want more than 4006")):
            code, _, err = self.run_train(*flags)
            self.assertEqual(code, 1)
            self.assertIn(message, err)
        for flags, message in ((("--steps", "0"), "--steps 0: want at least 1"),
                               (("--steps", "9", "--cool-down", "10"), "want 0 to --steps 9"),
                               (("--learning-rate", "0"), "want a number above 0"),
                               (("--noise", "1.5"), "--noise 1.5: want 0 to 1"),
                               (("--cool-down-minutes", "0"), "want a number above 0"),
                               (("--cool-down-minutes", "1", "--cool-down", "1"), "want one of"),
                               (("--width", "30", "--heads", "4"), "--heads 4 divides")):
            err = io.StringIO()
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(err):
                train.main([*self.flags, *out, *flags])
            self.assertIn(message, err.getvalue())


class SliceTest(ToyCorpusTest):

    def run_slice(self, *flags: str) -> str:
        """Returns what was wrong."""
        self.out = os.path.join(self.folder, "sliced")
        err = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            slices.main([
                *self.flags, "--profile", "toy", "--threads", "1", "--device", "cpu",
                "--steps", "1000000", "--test-pairs", "6", "--validation-pairs", "6",
                "--report-every", "5", "--out", self.out, *flags])
        return err.getvalue()

    def rates(self) -> list[float]:
        with open(f"{self.out}/curves.jsonl", encoding="utf-8") as file:
            return [r["learning_rate"] for r in map(json.loads, file) if "loss" in r]

    def test_each_goes_on_and_the_last_cools_down(self):
        self.assertEqual(self.run_slice("--minutes", "0.01"), "")
        first = self.rates()
        self.assertEqual(self.run_slice("--minutes", "0.01"), "")
        second = self.rates()
        self.assertEqual(second[:len(first)], first)
        self.assertGreater(len(second), len(first))
        self.assertEqual(self.run_slice("--minutes", "0.01", "--last"), "")
        third = self.rates()
        self.assertEqual(third[:len(second)], second)
        self.assertLess(third[-1], 0.1 * max(third))
        self.assertEqual(self.run_slice("--minutes", "0.01"), "")  # from before the cool-down
        self.assertEqual(self.rates()[:len(second)], second)
        self.assertGreater(min(self.rates()[len(second):]), third[-1])


class SafetensorsTest(unittest.TestCase):

    def test_is_read_as_it_was_written(self):
        tensors = {"a": torch.randn(2, 3).half().numpy(), "b": torch.randn(5).numpy()}
        with tempfile.NamedTemporaryFile() as file:
            export.write_safetensors(file.name, tensors)
            again = export.read_safetensors(file.name)
        self.assertEqual(list(again), ["a", "b"])
        for name, tensor in tensors.items():
            self.assertEqual(again[name].dtype, tensor.dtype)
            self.assertTrue((again[name] == tensor).all())


if __name__ == "__main__":
    unittest.main()
