"""Row and column effects of a table, each with an axis of length 1 of its own."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
table = rng.normal(size=(8, 1)) + rng.normal(size=(1, 6))
rows, columns = gt.Variable(np.zeros((8, 1))), gt.Variable(np.zeros((1, 6)))
for _ in range(200):
    with gt.GradientTape() as tape:
        loss = np.mean((table - rows - columns) ** 2)
    gr, gc = tape.gradient(loss, (rows, columns))
    rows.assign_sub(2.0 * gr)
    columns.assign_sub(2.0 * gc)
assert float(loss) < 1e-6
