# expect: GT305
# cause: the parameters of a layer are variables, which a tape records and backward does not
# wrong: raises UntrackedError
# cure: loss = net(x).sum() -> [v.requires_grad_() for v in net.parameters()]\nloss = net(x).sum()
import numpy as np

import gradtape.nn as nn

net = nn.Linear(3, 1, rng=np.random.default_rng(0))
x = np.ones((2, 3), "float32")
loss = net(x).sum()  # <- here
loss.backward()  # <- asked
