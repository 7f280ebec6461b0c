"""
A convolutional network with a loss of its own
==============================================

Images of digits, 1 200 of them, and four of ten labels are wrong: they were written in haste. Cross entropy believes
every label, and the network learns the wrong ones by heart. A loss that doubts labels which contradict everything
else helps: the *generalised cross entropy* of Zhang and Sabuncu (2018), (1 - p^q) / q, which lies between cross
entropy (q = 0) and the absolute error (q = 1).

It is three lines of NumPy, and no rule for its gradient has to be written. The images are made here, from the dots of
a small font, turned, moved, and covered with noise.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage

import gradtape as gt

IMAGES, TESTS, EPOCHS, BATCH, WRONG = 1200, 800, 30, 80, 0.4
FONT = """
01110 00100 01110 11111 00010 11111 00110 11111 01110 01110
10001 01100 10001 00010 00110 10000 01000 00001 10001 10001
10011 00100 00001 00100 01010 11110 10000 00010 10001 10001
10101 00100 00010 00010 10010 00001 11110 00100 01110 01111
11001 00100 00100 00001 11111 00001 10001 01000 10001 00001
10001 00100 01000 10001 00010 10001 10001 01000 10001 00010
01110 01110 11111 01110 00010 01110 01110 01000 01110 01100
"""

# %%
# The images
# ----------


def digit_images(count, rng):
    """Images (count, 1, 14, 14) in single precision, and what they show."""
    rows = [line.split() for line in FONT.split("\n") if line]
    glyphs = np.array([[[int(dot) for dot in row[digit]] for row in rows] for digit in range(10)], dtype=float)
    glyphs = np.pad(np.kron(glyphs, np.ones((1, 2, 2))), ((0, 0), (0, 0), (2, 2)))
    digits = rng.integers(10, size=count)
    images = np.empty((count, 1, 14, 14), dtype=np.float32)
    for image, digit in zip(images, digits, strict=True):
        angle, size = rng.normal(0.0, 0.16), rng.uniform(1.0, 1.35)
        turn = size * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        offset = 6.5 - turn @ (6.5 + rng.normal(0.0, 0.7, size=2))
        image[0] = ndimage.affine_transform(glyphs[digit], turn, offset, order=1)
    return images + rng.normal(0.0, 0.25, size=images.shape).astype(np.float32), digits


# %%
# The network and the two losses
# ------------------------------

NETWORK = gt.nn.Sequential(
    gt.nn.Conv2d(1, 8, 3, padding=1),
    gt.nn.ReLU(),
    gt.nn.MaxPool2d(2),
    gt.nn.Conv2d(8, 16, 3, padding=1),
    gt.nn.ReLU(),
    gt.nn.MaxPool2d(2),
    gt.nn.Flatten(),
    gt.nn.Dense(144, 128),
    gt.nn.ReLU(),
    gt.nn.Dense(128, 10),
)


def cross_entropy(logits, labels):
    return -np.mean(gt.log_softmax(logits)[np.arange(len(labels)), labels])


def generalised_cross_entropy(logits, labels, q=0.7):
    right = gt.softmax(logits)[np.arange(len(labels)), labels]
    return np.mean((1.0 - right**q) / q)


def train(loss, images, labels, tests, truth, epochs, compiled):
    """Accuracies after each epoch: of the labels that were trained on, right or wrong, and of the test images."""
    optimiser = gt.optim.Adam(3e-3)

    def step(params, memory, x, y):
        gradient = gt.grad(lambda params: loss(NETWORK.apply(params, x), y))(params)
        return optimiser.update(gradient, memory, params)

    together = gt.jit if compiled else lambda function: function
    step, predict = together(step), together(lambda params, x: np.argmax(NETWORK.apply(params, x), axis=1))
    rng = np.random.default_rng(1)
    params = NETWORK.init(rng)
    memory, curves = optimiser.init(params), []
    for _ in range(epochs):
        for chosen in rng.permutation(len(images)).reshape(-1, BATCH):
            params, memory = step(params, memory, images[chosen], labels[chosen])
        curves.append([np.mean(predict(params, x) == y) for x, y in ((images, labels), (tests, truth))])
    return np.array(curves), predict(params, tests)


def solve(compiled: bool = True, epochs: int = EPOCHS) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    images, digits = digit_images(IMAGES, rng)
    labels = np.where(rng.random(IMAGES) < WRONG, (digits + rng.integers(1, 10, size=IMAGES)) % 10, digits)
    tests, truth = digit_images(TESTS, rng)
    curves, guesses = {}, {}
    for name, loss in (("cross entropy", cross_entropy), ("generalised", generalised_cross_entropy)):
        curves[name], guesses[name] = train(loss, images, labels, tests, truth, epochs, compiled)
    final = {name: float(curve[-1, 1]) for name, curve in curves.items()}
    return {
        "result": f"trained with {WRONG:.0%} wrong labels: {final['cross entropy']:.1%} of new images right with cross "
        f"entropy, {final['generalised']:.1%} with the generalised one",
        "curves": curves,
        "final": final,
        "tests": tests,
        "truth": truth,
        "labels": labels[:18],
        "images": images[:18],
        "right": (labels == digits)[:18],
        "guesses": guesses,
    }


# %%
# What was learned
# ----------------
# Left: some images with the labels that they were trained with; wrong ones are orange. Right: accuracy on new images,
# whose labels are right, and on the labels that were trained on. The higher the dashed line climbs above 60 %, the
# more wrong labels are known by heart.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    figure = plt.figure(figsize=(9, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(5, 6))
    for axis, image, label, is_right in zip(
        left.subplots(3, 6).flat, found["images"], found["labels"], found["right"], strict=True
    ):
        axis.imshow(image[0], cmap="gray_r", vmin=-0.3, vmax=1.3)
        axis.set_title(str(label), color="k" if is_right else "C1", fontsize=13, fontweight="bold", pad=3)
        axis.axis("off")
    axis = right.subplots()
    epochs = np.arange(1, len(found["curves"]["generalised"]) + 1)
    for (name, curve), colour in zip(found["curves"].items(), ("C1", "C0"), strict=True):
        axis.plot(epochs, 100 * curve[:, 1], "o-", ms=4, lw=2, color=colour, label=f"{name}: new images")
        axis.plot(epochs, 100 * curve[:, 0], "--", lw=1.5, color=colour, label=f"{name}: labels trained on")
    axis.axhline(100 * (1 - WRONG), color="0.6", lw=1)
    axis.set(title="40 % of the labels are wrong", xlabel="epoch", ylabel="accuracy (%)", ylim=(0, 101))
    axis.legend(loc="lower right")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
