"""
Sequence to sequence with attention: dates
==========================================

Dates are written as "7 May 1989", "May 7, 1989" or "7.5.89"; a database wants "1989-05-07". A network with attention
learns the translation from examples alone: an encoder reads the letters in both directions, a decoder writes one
character at a time, and before each it looks back at the letters, with weights that it learns to choose.

The weights show what was understood: while it writes the month as digits, the network looks at the name of the month.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
LETTERS = [*sorted(set("".join(MONTHS)) | set("0123456789 ,.")), "~"]  # the last one fills up
DIGITS = list("0123456789-")
LONGEST, WRITTEN = 18, 10
WIDTH, BATCH = 40, 64

# %%
# The dates
# ---------


def written(day, month, year, style):
    name = MONTHS[month - 1]
    return [
        f"{day} {name} {year}",
        f"{name} {day}, {year}",
        f"{day}.{month}.{year % 100:02d}",
        f"{day} {name[:3]} {year}",
    ][style]


def dates(count, rng):
    """Codes of letters (count, LONGEST) and of what they mean (count, WRITTEN)."""
    sources, targets = [], []
    for _ in range(count):
        day, month, year, style = rng.integers(1, 29), rng.integers(1, 13), rng.integers(1950, 2050), rng.integers(4)
        sources.append([LETTERS.index(c) for c in written(day, month, year, style).ljust(LONGEST, "~")])
        targets.append([DIGITS.index(c) for c in f"{year:04d}-{month:02d}-{day:02d}"])
    return np.array(sources), np.array(targets)


# %%
# The network
# -----------
# Additive attention (Bahdanau, Cho and Bengio, 2015): the decoder's state asks, each letter answers with a score, and
# the softmax of the scores weighs what the encoder has to say about the letters.


class Translator(gt.nn.Module):
    def __init__(self):
        self.letters = gt.nn.Embedding(len(LETTERS), WIDTH)
        self.digits = gt.nn.Embedding(len(DIGITS) + 1, WIDTH)  # the last one begins
        self.encoder = gt.nn.GRU(WIDTH, WIDTH, bidirectional=True, batch_first=True)
        self.cell = gt.nn.GRUCell(3 * WIDTH, WIDTH)
        self.key, self.query = gt.nn.Dense(2 * WIDTH, WIDTH), gt.nn.Dense(WIDTH, WIDTH)
        self.score, self.out = gt.nn.Dense(WIDTH, 1), gt.nn.Dense(3 * WIDTH, len(DIGITS))

    def forward(self, source, target=None):
        """Logits (examples, WRITTEN, digits), and where it looked; without `target` it goes on from its own output."""
        read, _ = self.encoder(self.letters(source))
        keys = self.key(read)
        state = np.zeros((len(source), WIDTH), dtype=np.float32)
        before = np.full(len(source), len(DIGITS))
        logits, looks = [], []
        for i in range(WRITTEN):
            scores = self.score(np.tanh(keys + self.query(state)[:, None, :]))[:, :, 0]
            look = gt.softmax(scores, axis=1)
            context = np.einsum("bt,btd->bd", look, read)
            state = self.cell(np.concatenate([self.digits(before), context], axis=1), state)
            answer = self.out(np.concatenate([state, context], axis=1))
            before = np.argmax(answer, axis=1) if target is None else target[:, i]
            logits.append(answer)
            looks.append(look)
        return gt.stack(logits, axis=1), gt.stack(looks, axis=1)


NETWORK = Translator()
OPTIMISER = gt.optim.Adam(5e-3, clip_norm=1.0)


def step(params, memory, source, target):
    def loss(params):
        logits, _ = NETWORK.apply(params, source, target)
        return gt.nn.functional.cross_entropy(logits.reshape(-1, len(DIGITS)), target.reshape(-1))

    value, gradient = gt.value_and_grad(loss)(params)
    return value, *OPTIMISER.update(gradient, memory, params)


def solve(compiled: bool = True, steps: int = 250) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    together = gt.jit if compiled else lambda function: function
    learn, translate = together(step), together(lambda params, source: NETWORK.apply(params, source))
    params = NETWORK.init(rng)
    memory, losses = OPTIMISER.init(params), []
    for _ in range(steps):
        value, params, memory = learn(params, memory, *dates(BATCH, rng))
        losses.append(float(value))
    source, target = dates(500, np.random.default_rng(99))
    logits, _ = translate(params, source)
    right = float(np.mean(np.all(np.argmax(logits, axis=2) == target, axis=1)))
    shown = ["23 September 2017", "March 8, 1964", "5.11.87"]
    codes = np.array([[LETTERS.index(c) for c in text.ljust(LONGEST, "~")] for text in shown])
    logits, looks = translate(params, codes)
    answers = ["".join(DIGITS[i] for i in row) for row in np.argmax(logits, axis=2)]
    return {
        "result": f"{right:.1%} of 500 new dates translated without a mistake; "
        f"loss from {losses[0]:.2f} to {losses[-1]:.4f}",
        "right": right,
        "losses": losses,
        "shown": shown,
        "answers": answers,
        "looks": np.asarray(looks),
    }


# %%
# Where it looks
# --------------
# Each row is a character that was written, each column a letter that was read; dark is where it looked.


def draw(found: dict[str, Any]) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 5), layout="constrained", width_ratios=(17, 13, 7))
    for axis, text, answer, look in zip(axes, found["shown"], found["answers"], found["looks"], strict=True):
        image = axis.imshow(look[:, : len(text)], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axis.set_xticks(range(len(text)), list(text))
        axis.set_yticks(range(WRITTEN), list(answer))
        axis.set(title=text, xlabel="read")
    axes[0].set_ylabel("written")
    figure.colorbar(image, ax=axes, label="weight of the letter")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
