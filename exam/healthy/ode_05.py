"""Shooting: Newton's method on the landing point, with a derivative through the whole flight."""

import gradtape as gt


def height_at_end(speed):
    position, velocity = 0.0, speed
    for _ in range(20):
        position = position + 0.1 * velocity
        velocity = velocity - 0.1 * (9.81 + 0.05 * velocity)
    return position - 3.0


speed = 5.0
for _ in range(5):
    value, slope = gt.value_and_grad(height_at_end)(speed)
    speed = speed - value / slope
assert abs(height_at_end(speed)) < 1e-9
