# expect: GT101
# cause: the value of each state is a column and the returns a vector: the advantage is a table of all pairs
# wrong: np.shape(advantage) == (30, 30)
# cure: returns - values -> returns - values[:, 0]
import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
states, returns = rng.normal(size=(30, 5)), rng.normal(size=30)
critic = gt.nn.Linear(5, 1).initialise(rng)
with gt.GradientTape() as tape:
    values = critic(states)
    advantage = returns - values  # <- here
    loss = np.mean(np.abs(advantage))
g = tape.gradient(loss, critic.parameters())
