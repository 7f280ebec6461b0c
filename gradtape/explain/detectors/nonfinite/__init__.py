"""Detector: NaN and infinity. `check` decides whether the forward or the backward pass produced them; `origin` builds
the problem for the operation that did; `second_order` does so for second derivatives.
"""
