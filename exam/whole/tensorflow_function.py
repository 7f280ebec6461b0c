"""Training loops in `tf.function`: one step, a loop inside of the graph, XLA, and a `tf.Module`."""

import tensorflow as tf
from measure import Steps
from tensorflow_measure import finish


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal((6, 16), stddev=0.4, seed=1))
        self.b1 = tf.Variable(tf.zeros((16,)))
        self.w2 = tf.Variable(tf.random.normal((16, 1), stddev=0.3, seed=2))
        self.b2 = tf.Variable(tf.zeros((1,)))

    def __call__(self, x):
        return tf.nn.relu(x @ self.w1 + self.b1) @ self.w2 + self.b2


def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    variables = model.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
        variable.assign_sub(0.05 * gradient)
    return loss


@tf.function
def train_many(x, y, count):
    loss = tf.constant(0.0)
    for _ in tf.range(count):
        loss = train(x, y)
        if loss < 1e-6:
            break
    return loss


tf.random.set_seed(0)
model = Model()
x = tf.random.normal((64, 6))
y = x[:, :1] * x[:, 1:2]
steps = Steps()
train_one, train_xla = tf.function(train), tf.function(train, jit_compile=True)
for step in range(90):
    with steps:
        loss = (train_one, train_xla)[step % 2](x, y)
    if step % 30 == 0:
        print(f"step {step}: loss {float(loss):.6f}")
print(f"many: {float(train_many(x, y, 20)):.6f}")
finish(steps, model.variables)
