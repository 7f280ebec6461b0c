"""
A small character language model
================================

A transformer with one block learns to continue a text, one character after the other. The text is *The House That
Jack Built*, a nursery rhyme of 1755 that repeats itself more with each verse, and fits into this file. The last verse
is held back: a model that has understood how the rhyme goes can say most of it.

The measure is the number of bits per character, beside that of counting which character follows which (a bigram model).
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

PARTS = [
    "the house that Jack built",
    "the malt\nThat lay in",
    "the rat\nThat ate",
    "the cat\nThat killed",
    "the dog\nThat worried",
    "the cow with the crumpled horn\nThat tossed",
    "the maiden all forlorn\nThat milked",
    "the man all tattered and torn\nThat kissed",
    "the priest all shaven and shorn\nThat married",
    "the cock that crowed in the morn\nThat waked",
    "the farmer sowing his corn\nThat kept",
]
VERSES = ["This is " + " ".join(PARTS[i::-1]) + ".\n\n" for i in range(len(PARTS))]
TRAINING, HELD_BACK = "".join(VERSES[:-1]), VERSES[-1]
LETTERS = sorted(set("".join(VERSES)))
CODES = {letter: code for code, letter in enumerate(LETTERS)}
WIDTH, HEADS, CONTEXT, BATCH = 48, 4, 48, 24


def encode(text):
    return np.array([CODES[letter] for letter in text])


# %%
# The model
# ---------
# Embeddings of characters and of positions, one block of causal attention, and a dense layer to the logits of the
# next character.


class LanguageModel(gt.nn.Module):
    def __init__(self):
        self.letters = gt.nn.Embedding(len(LETTERS), WIDTH)
        self.places = gt.nn.Embedding(CONTEXT, WIDTH)
        self.block = gt.nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.norm = gt.nn.LayerNorm(WIDTH)
        self.out = gt.nn.Dense(WIDTH, len(LETTERS))

    def forward(self, codes):
        """Logits (examples, characters, letters) of what follows each character."""
        x = self.letters(codes) + self.places(np.arange(codes.shape[1]))
        return self.out(self.norm(self.block(x, is_causal=True)))


MODEL = LanguageModel()


def loss(params, codes):
    """Nats per character, of the predictions of all characters but the first."""
    logits = MODEL.apply(params, codes[:, :-1])
    return gt.nn.functional.cross_entropy(logits.reshape(-1, len(LETTERS)), codes[:, 1:].reshape(-1))


# %%
# Training
# --------
# Random stretches of the first ten verses, AdamW with a warm-up and a cosine.


def bits(predict, params, text, before):
    """Bits per character of a text, each predicted from up to CONTEXT characters before it."""
    codes = encode(before[-CONTEXT:] + text)
    windows = np.stack([codes[i : i + CONTEXT] for i in range(len(text))])
    scores = np.asarray(predict(params, windows))[:, -1]
    logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return -logs[np.arange(len(text)), codes[CONTEXT:]] / np.log(2)


def bigram_bits(text, before):
    """The same with counts of which character follows which, one added to each."""
    counts = np.ones((len(LETTERS), len(LETTERS)))
    np.add.at(counts, (encode(TRAINING)[:-1], encode(TRAINING)[1:]), 1.0)
    codes = encode(before[-1] + text)
    return float(-np.mean(np.log2(counts / counts.sum(axis=1, keepdims=True))[codes[:-1], codes[1:]]))


def continued(predict, params, prompt, length):
    """The prompt and the most likely characters after it."""
    text = prompt
    for _ in range(length):
        text += LETTERS[int(np.argmax(predict(params, encode(text[-CONTEXT:])[None])[0, -1]))]
    return text


def solve(compiled: bool = True, steps: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    schedule = gt.optim.schedules.warmup(gt.optim.schedules.cosine(5e-3, steps), 20)
    optimiser = gt.optim.AdamW(schedule, weight_decay=0.05, clip_norm=1.0)

    def step(params, memory, codes):
        value, gradient = gt.value_and_grad(loss)(params, codes)
        return value, *optimiser.update(gradient, memory, params)

    together = gt.jit if compiled else lambda function: function
    learn, predict = together(step), together(lambda params, codes: MODEL.apply(params, codes))
    params = MODEL.init(rng)
    memory, losses = optimiser.init(params), []
    codes = encode(TRAINING)
    for _ in range(steps):
        starts = rng.integers(len(codes) - CONTEXT, size=BATCH)
        value, params, memory = learn(params, memory, codes[starts[:, None] + np.arange(CONTEXT + 1)])
        losses.append(float(value) / np.log(2))
    new = bits(predict, params, HELD_BACK, TRAINING)
    bigram = bigram_bits(HELD_BACK, TRAINING)
    prompt = TRAINING[-(CONTEXT + 1) :] + "This is the cow"
    return {
        "result": f"{new.mean():.2f} bits per character in the verse that was held back ({bigram:.2f} by bigrams), "
        f"{losses[-1]:.2f} in training",
        "losses": losses,
        "held_back": float(new.mean()),
        "bits": new,
        "bigram": bigram,
        "continued": continued(predict, params, prompt, 80)[CONTEXT + 1 :],
    }


# %%
# What it has learned
# -------------------
# Right: the verse that was held back, each character on a colour that tells how surprised the model was. It stumbles
# over the words that it never saw ("farmer sowing his corn"), and then goes on by heart.


def draw(found: dict[str, Any]) -> None:
    figure, (curve, verse) = plt.subplots(1, 2, figsize=(9.5, 4.8), layout="constrained", width_ratios=(2, 3))
    curve.plot(found["losses"], lw=1.5, color="tab:blue", label="training")
    curve.axhline(found["held_back"], color="tab:orange", lw=2, label="verse held back")
    curve.axhline(found["bigram"], color="0.4", ls="--", label="verse held back, bigrams")
    curve.set(title="Learning", xlabel="step", ylabel="bits per character", ylim=(0, 5))
    curve.legend()
    colours = plt.colormaps["YlOrBr"]
    x = y = 0
    for letter, surprise in zip(HELD_BACK.rstrip(), found["bits"], strict=False):
        box = {"facecolor": colours(min(surprise / 10.0, 1.0)), "edgecolor": "none", "pad": 1.2}
        text = verse.text(
            x, -y, letter.replace("\n", " "), family="monospace", fontsize=9, ha="center", va="center", bbox=box
        )
        text.set_color("w" if surprise > 5.0 else "k")
        x, y = (0, y + 1) if letter == "\n" else (x + 1, y)
    verse.set(title="Surprise in the verse that was held back", xlim=(-1, 46), ylim=(-y - 1, 1))
    verse.axis("off")
    scale = plt.cm.ScalarMappable(plt.Normalize(0, 10), colours)
    figure.colorbar(scale, ax=verse, label="bits", shrink=0.8)


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    print(found["continued"])
    draw(found)
    plt.show()
