"""A pendulum by leapfrog: the energy hardly changes, and its gradient flows through all steps."""

import numpy as np

import gradtape as gt


def energy_after(theta0, steps=50, h=0.05):
    theta, omega = theta0, theta0 * 0.0
    for _ in range(steps):
        omega = omega - 0.5 * h * np.sin(theta)
        theta = theta + h * omega
        omega = omega - 0.5 * h * np.sin(theta)
    return 0.5 * omega**2 + 1.0 - np.cos(theta)


value, slope = gt.value_and_grad(energy_after)(0.5)
assert abs(value - (1 - np.cos(0.5))) < 1e-3
assert abs(slope - np.sin(0.5)) < 1e-2
