# expect: GT314
# cause: the numbers of a file were read as texts
# wrong: raises OperandError
# cure: table @ w -> table.astype(float) @ w
import csv
import io

import numpy as np

import gradtape as gt

table = np.array(list(csv.reader(io.StringIO("1.5,2\n3,4.25\n"))))
w = gt.Variable(np.ones(2))
with gt.GradientTape() as tape:
    loss = np.sum(table @ w)  # <- here
g = tape.gradient(loss, w)
