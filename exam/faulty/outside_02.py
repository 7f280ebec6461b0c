# expect: GT201 because GT211
# cause: the discriminator's loss was recorded on its own tape, and the generator's tape is asked
# wrong: g is None
# cure: gen_tape.gradient(dis_loss -> dis_tape.gradient(dis_loss
import numpy as np

import gradtape as gt

d = gt.Variable(np.ones(3))
gen = gt.Variable(np.ones(3))
real = np.array([0.5, 1.0, 2.0])

with gt.GradientTape() as gen_tape:
    gen_loss = np.sum(np.tanh(gen) * 0.5)
with gt.GradientTape() as dis_tape:
    dis_loss = np.sum((d * real - 1.0) ** 2)  # <- here
g = gen_tape.gradient(dis_loss, d)  # <- asked
