"""Two running sums over a message, each wrapped by a smooth function: a check sum that can be differentiated.

Recurrences with a state of several numbers; hash layers, recurrent networks.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (8,)
PAPER = (300,)


def initialise(size):
    return (default_rng(48).random(size),)


def program(message):
    state = np.array([1.0, 0.0])
    for i in range(message.shape[0]):
        state[0] += message[i]
        state[0] = np.sin(state[0])
        state[1] += state[0]
        state[1] = np.tanh(state[1])
    return state[0] + 2.0 * state[1]
