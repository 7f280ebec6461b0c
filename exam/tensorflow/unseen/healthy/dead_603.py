import tensorflow as tf


class Launcher(tf.Module):
    GRAVITY = 9.81

    def __init__(self):
        super().__init__()
        self.angle = tf.Variable(0.7, name="angle")
        self.speed = tf.constant(10.0)

    def distance(self):
        safe = tf.clip_by_value(self.angle, 0.05, 1.5)
        return self.speed**2 * tf.sin(2.0 * safe) / self.GRAVITY


launcher = Launcher()
goal = tf.constant(9.0)
for shot in range(4):
    with tf.GradientTape() as tape:
        miss = tf.square(launcher.distance() - goal)
    gradient = tape.gradient(miss, launcher.angle)
    launcher.angle.assign_sub(0.005 * gradient)
assert not (float(abs(gradient)) == 0.0)
