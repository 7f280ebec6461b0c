"""The generator's gradients pass the discriminator, whose own are clipped in range and cleared before its next step."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
shift, slope = gt.Variable(0.0).requires_grad_(), gt.Variable(0.1).requires_grad_()
for _ in range(40):
    real, noise = rng.normal(3.0, 1.0, size=32), rng.normal(size=32)
    slope.assign(np.clip(slope.numpy(), -1.0, 1.0))
    slope.zero_grad()
    (np.mean(slope * gt.stop_gradient(noise + shift)) - np.mean(slope * real)).backward()
    slope.assign_sub(0.1 * slope.grad)
    shift.zero_grad()
    (-np.mean(slope * (noise + shift))).backward()
    shift.assign_sub(0.1 * shift.grad)
assert shift.numpy() > 1.0
