# expect: GT201 because GT202
# says: model.scale
# says: model.rate
# cause: the amplitude is a field of the model that its formula forgets
# wrong: g is None
# cure: np.exp(-model.rate * t) -> model.scale * np.exp(-model.rate * t)
from dataclasses import dataclass

import numpy as np

import gradtape as gt


@dataclass
class Decay:
    scale: gt.Variable
    rate: gt.Variable


def curve(model, t):
    return np.exp(-model.rate * t)


t = np.linspace(0.0, 3.0, 20)
seen = 2.0 * np.exp(-0.7 * t)
model = Decay(gt.Variable(1.0), gt.Variable(0.5))
with gt.GradientTape() as tape:
    loss = np.mean((curve(model, t) - seen) ** 2)  # <- here
g = tape.gradient(loss, model.scale)  # <- here
