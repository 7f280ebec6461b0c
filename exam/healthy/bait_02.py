"""Positional codes: positions as a column against frequencies, of the same number."""

import numpy as np

import gradtape as gt

positions = np.arange(8.0)
log_frequencies = gt.Variable(np.linspace(0.0, -2.0, 8))
with gt.GradientTape() as tape:
    angles = np.expand_dims(positions, 1) * np.exp(log_frequencies)
    code = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    loss = np.mean((code @ code.T - np.eye(8)) ** 2)
assert tape.gradient(loss, log_frequencies).shape == (8,)
