"""A run that was stored and taken up again goes on as if nothing had happened, the optimiser included."""

import os
import tempfile

import numpy as np
import tensorflow as tf


def make():
    layers = [tf.keras.layers.Dense(4, activation="tanh", kernel_initializer=tf.keras.initializers.Constant(0.3))]
    layers.append(tf.keras.layers.Dense(1, kernel_initializer="ones"))
    return tf.keras.Sequential([tf.keras.Input((3,)), *layers]), tf.keras.optimizers.Adam(0.1)


x = np.linspace(-1.0, 1.0, 24, dtype="float32").reshape(8, 3)


def step(model, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - x[:, :1]) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return float(loss)


model, optimizer = make()
print([round(step(model, optimizer), 5) for _ in range(3)])
with tempfile.TemporaryDirectory() as folder:
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), folder, max_to_keep=1)
    manager.save()
    ahead = [step(model, optimizer) for _ in range(3)]
    again, other = make()
    status = tf.train.Checkpoint(model=again, optimizer=other).restore(manager.latest_checkpoint)
    print(type(status).__name__, os.path.basename(manager.latest_checkpoint))
    print(np.allclose(ahead, [step(again, other) for _ in range(3)], rtol=1e-6), other.iterations.numpy())
print([round(loss, 5) for loss in ahead])
average = tf.train.ExponentialMovingAverage(0.9)
v = tf.Variable(1.0)
average.apply([v])
v.assign(2.0)
average.apply([v])
print(average.average(v).numpy())
