# expect: GT201 because GT209
# cause: deep inside nested functions, the price is rounded to cents
# wrong: not np.any(g)
# cure: np.round(amount, 2) -> amount
import numpy as np

import gradtape as gt


def make_invoice(tax):
    def total(prices):
        def to_cents(amount):
            return np.round(amount, 2)  # <- here

        return to_cents(np.sum(prices * (1.0 + tax)))

    return total


g = gt.grad(make_invoice(0.19))(np.array([1.5, 2.25]))  # <- asked
