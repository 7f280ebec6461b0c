"""A small convolutional network with cross entropy over class numbers."""

import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(0)
labels = np.arange(12) % 2
images = rng.normal(size=(12, 1, 6, 6)) * 0.3
images[labels == 1, :, 2:4, :] += 1.0
kernel, head = gt.Variable(rng.normal(size=(3, 1, 3, 3)) * 0.3), gt.Variable(rng.normal(size=(12, 2)) * 0.3)
values = []
for _ in range(15):
    with gt.GradientTape() as tape:
        h = F.max_pool2d(F.relu(F.conv2d(images, kernel)), 2)
        loss = F.cross_entropy(h.reshape(12, -1) @ head, labels)
    for v, g in zip((kernel, head), tape.gradient(loss, [kernel, head]), strict=True):
        v.assign_sub(0.3 * g)
    values.append(float(loss))
assert values[-1] < 0.5 * values[0]
