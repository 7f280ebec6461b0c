# an auxiliary head is not part of this phase's loss; its gradients are asked for with zeros in mind
import tensorflow as tf

generator = tf.random.Generator.from_seed(15)


class TwoHeads(tf.Module):
    def __init__(self):
        super().__init__()
        self.trunk = tf.Variable(generator.normal((3, 6)), name="trunk")
        self.main = tf.Variable(generator.normal((6, 1)), name="main")
        self.auxiliary = tf.Variable(generator.normal((6, 2)), name="auxiliary")

    def losses(self, x):
        h = tf.nn.relu(x @ self.trunk)
        return tf.reduce_mean((h @ self.main) ** 2), tf.reduce_mean((h @ self.auxiliary) ** 2)


model = TwoHeads()
x = generator.normal((16, 3))
for phase in ("main", "both"):
    with tf.GradientTape() as tape:
        first, second = model.losses(x)
        loss = first if phase == "main" else first + second
    grads = tape.gradient(loss, model.trainable_variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    for v, g in zip(model.trainable_variables, grads):
        v.assign_sub(0.01 * g)
assert all(g is not None for g in grads)
