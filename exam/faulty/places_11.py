# expect: GT101
# cause: a column against a row, written over several lines with comments between
# wrong: value > 100
# cure: table.mean(axis=1).reshape(-1, 1) -> table.mean(axis=1)
import numpy as np

import gradtape as gt


def spread(table, centre):
    row_mean = table.mean(axis=1).reshape(-1, 1)
    return np.abs(
        row_mean  # one for each row  # <- here
        - centre  # and one for each of these  # <- here
    ).sum()


value, gradient = gt.value_and_grad(spread)(np.arange(30.0).reshape(6, 5), np.arange(6.0))
