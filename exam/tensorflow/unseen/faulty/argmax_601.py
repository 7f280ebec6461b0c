# expect: GT201 because GT209 or GT207
# cause: the share of right answers is computed with argmax, which has no derivative
# wrong: all(g is None for g in grads)
# cure: loss = 1.0 - accuracy(logits, targets) -> loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits))
import numpy as np
import tensorflow as tf


class Softmax(tf.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_normal((inputs, classes), (0, 1)) * 0.1)
        self.b = tf.Variable(tf.zeros(classes))

    def __call__(self, x):
        return tf.linalg.matmul(x, self.w) + self.b


def accuracy(logits, targets):
    guess = tf.argmax(logits, axis=-1)  # <- here
    return tf.reduce_mean(tf.cast(guess == targets, tf.float32))


rng = np.random.default_rng(6)
x = tf.constant(rng.normal(size=(50, 4)), tf.float32)
targets = tf.argmax(x[:, :3], axis=1)
model = Softmax(4, 3)
for epoch in range(3):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = 1.0 - accuracy(logits, targets)
    grads = tape.gradient(loss, model.trainable_variables)  # <- asked
    for variable, g in zip(model.trainable_variables, grads):
        if g is not None:
            variable.assign_sub(g)
