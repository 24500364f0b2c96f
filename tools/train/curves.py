"""The curves of a run: a file with a JSON object per line, and a plot.

Training records are {"step", "seconds", "loss", "learning_rate", "target_tokens_per_second"},
validation records {"step", "seconds", "validation_loss", "bleu": {"eng-deu": ...}}.
"""

import json
import os


class Curves:
    """The records of `path`.  After a resume, those after the checkpoint are dropped."""

    def __init__(self, path: str, last_step: int = 0):
        self._path = path
        self.records: list[dict] = []
        if last_step and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.records = [r for r in map(json.loads, file) if r["step"] <= last_step]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in self.records)

    def add(self, **record) -> None:
        self.records.append(record)
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def points(self, name: str) -> tuple[list, list]:
        """The steps and values of one figure."""
        found = [r for r in self.records if name in r]
        return [r["step"] for r in found], [r[name] for r in found]


def no_longer_falls(losses: list[float], patience: int) -> bool:
    """Whether none of the last `patience` losses is below all earlier ones."""
    before, recent = losses[:-patience], losses[-patience:]
    return bool(before) and min(recent) >= min(before)


def plot(curves: Curves, path: str) -> bool:
    """Draws loss and BLEU over the steps; False if matplotlib is not installed."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return False
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    left.plot(*curves.points("loss"), label="training, label-smoothed", linewidth=0.8)
    left.plot(*curves.points("validation_loss"), label="validation", marker="o", markersize=3)
    left.set(xlabel="step", ylabel="nats per target token", title="Loss")
    left.legend()
    steps, bleu = curves.points("bleu")
    for direction in bleu[0] if bleu else ():
        right.plot(steps, [b[direction] for b in bleu], label=direction, marker="o", markersize=3)
    right.set(xlabel="step", ylabel="BLEU", title="Validation BLEU, greedy")
    if bleu:
        right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True
