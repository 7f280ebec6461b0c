# expect: GT201 or GT305 because GT208
# cause: the generator's samples are detached in the generator's own step as well
# wrong: raises UntrackedError
# cure: generator(z).detach() -> generator(z)
import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
gen_w = gt.tensor(rng.normal(size=(2, 3)), requires_grad=True)
dis_w = rng.normal(size=(3, 1))


def generator(z):
    return gt.tanh(z @ gen_w)


z = rng.normal(size=(10, 2))
fake = generator(z).detach()  # <- here
score = gt.sigmoid(fake @ dis_w)
gen_loss = -np.log(score).mean()
gen_loss.backward()  # <- asked
