"""Detector: NaN and infinity. `check` decides whether the forward or the backward pass produced them, and has
`check_numerics`; `origin` builds the problem for the operation that did; `second_order` and `per_row` do so for second
derivatives and for rows of Jacobians.
"""
