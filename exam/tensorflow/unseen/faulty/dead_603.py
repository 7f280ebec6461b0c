# expect: GT404
# cause: the angle starts far outside the limits of the clip, where its slope is 0
# wrong: float(abs(gradient)) == 0.0
# cure: tf.Variable(7.0, name="angle") -> tf.Variable(0.7, name="angle")
import tensorflow as tf


class Launcher(tf.Module):
    GRAVITY = 9.81

    def __init__(self):
        super().__init__()
        self.angle = tf.Variable(7.0, name="angle")  # <- here
        self.speed = tf.constant(10.0)

    def distance(self):
        safe = tf.clip_by_value(self.angle, 0.05, 1.5)  # <- here
        return self.speed**2 * tf.sin(2.0 * safe) / self.GRAVITY


launcher = Launcher()
goal = tf.constant(9.0)
for shot in range(4):
    with tf.GradientTape() as tape:
        miss = tf.square(launcher.distance() - goal)
    gradient = tape.gradient(miss, launcher.angle)  # <- asked
    launcher.angle.assign_sub(0.005 * gradient)
