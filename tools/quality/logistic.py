"""Logistic regression, the area under the ROC curve, and calibration; of lists of numbers, without a library."""

import math


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def solve(a: list[list[float]], b: list[float]) -> list[float]:
    """x with a x = b, by Gaussian elimination; a and b are overwritten."""
    size = len(b)
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(a[row][i]))
        a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
        for row in range(i + 1, size):
            factor = a[row][i] / a[i][i]
            if factor:
                a[row] = [x - factor * y for x, y in zip(a[row], a[i])]
                b[row] -= factor * b[i]
    for i in reversed(range(size)):
        b[i] = (b[i] - sum(a[i][j] * b[j] for j in range(i + 1, size))) / a[i][i]
    return b


def fit(rows: list[list[float]], labels: list[int], weights: list[float], ridge: float = 1.0,
        rounds: int = 12) -> list[float]:
    """The weights of the columns, and last the bias, by Newton's method with an L2 penalty on the weights of the
    standardized columns."""
    total = sum(weights)
    size = len(rows[0])
    means = [sum(w * row[j] for row, w in zip(rows, weights)) / total for j in range(size)]
    scales = [math.sqrt(sum(w * (row[j] - means[j]) ** 2 for row, w in zip(rows, weights)) / total) or 1.0
              for j in range(size)]
    scaled = [[(row[j] - means[j]) / scales[j] for j in range(size)] + [1.0] for row in rows]
    found = [0.0] * (size + 1)
    for _ in range(rounds):
        gradient = [-ridge * x for x in found[:-1]] + [0.0]
        hessian = [[0.0] * (size + 1) for _ in range(size + 1)]
        for i in range(size):
            hessian[i][i] = ridge
        hessian[size][size] = 1e-9
        for row, label, weight in zip(scaled, labels, weights):
            p = logistic(sum(map(float.__mul__, row, found)))
            error, curve = weight * (label - p), weight * p * (1 - p)
            for i, x in enumerate(row):
                gradient[i] += error * x
                line, c = hessian[i], curve * x
                for j in range(i + 1):
                    line[j] += c * row[j]
        for i in range(size + 1):
            for j in range(i):
                hessian[j][i] = hessian[i][j]
        step = solve(hessian, gradient)
        found = [x + y for x, y in zip(found, step)]
        if max(map(abs, step)) < 1e-8:
            break
    unscaled = [w / scale for w, scale in zip(found, scales)]
    return unscaled + [found[-1] - sum(w * mean for w, mean in zip(unscaled, means))]


def auroc(good: list[float], bad: list[float]) -> float:
    """How often a good one scores above a bad one; a tie counts half."""
    if not good or not bad:
        return float("nan")
    ranked = sorted([(x, 1) for x in good] + [(x, 0) for x in bad])
    wins, below, i = 0.0, 0, 0
    while i < len(ranked):
        j = i
        while j < len(ranked) and ranked[j][0] == ranked[i][0]:
            j += 1
        ties_good = sum(label for _, label in ranked[i:j])
        ties_bad = j - i - ties_good
        wins += ties_good * (below + ties_bad / 2)
        below += ties_bad
        i = j
    return wins / (len(good) * len(bad))


def calibration(scores: list[float], labels: list[int], weights: list[float],
                bins: int = 10) -> list[tuple[float, float, float, int]]:
    """For each bin of scores: the mean score, the part that is good, and the weight and number of its rows."""
    table = []
    for b in range(bins):
        inside = [(s, y, w) for s, y, w in zip(scores, labels, weights) if min(int(s * bins), bins - 1) == b]
        weight = sum(w for _, _, w in inside) or 1.0
        table.append((sum(s * w for s, _, w in inside) / weight, sum(y * w for _, y, w in inside) / weight, weight,
                      len(inside)))
    return table
