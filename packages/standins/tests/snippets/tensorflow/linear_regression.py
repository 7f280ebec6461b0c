"""A training loop by hand: a line through noiseless points."""

import tensorflow as tf


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


x = tf.cast(tf.linspace(-2, 2, 201), tf.float32)
y = 3.0 * x + 2.0
model = MyModel()
print("Variables:", model.variables)
for epoch in range(10):
    train(model, x, y, learning_rate=0.1)
    print(f"Epoch {epoch:2d}: W = {model.w.numpy():1.3f}, b = {model.b.numpy():1.3f}, loss={loss(y, model(x)):2.5f}")
