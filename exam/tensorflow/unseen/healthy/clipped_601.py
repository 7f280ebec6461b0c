# PPO: the ratio is clipped, and some of its gradients are 0 on purpose
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(13)
actor = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.Adam(0.02)
states = tf.random.normal((40, 3))
actions = tf.random.categorical(actor(states), 1)[:, 0]
advantage = tf.where(actions == 0, states[:, 0], -states[:, 0])
advantage = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-8)
old = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, actor(states))


@tf.function
def update():
    with tf.GradientTape() as tape:
        logits = actor(states)
        log_p = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        ratio = tf.exp(log_p - old)
        surrogate = tf.minimum(ratio * advantage, tf.clip_by_value(ratio, 0.8, 1.2) * advantage)
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=1)
        loss = -tf.reduce_mean(surrogate) - 0.01 * tf.reduce_mean(entropy)
    optimizer.apply_gradients(zip(tape.gradient(loss, actor.trainable_variables), actor.trainable_variables))
    return loss


losses = [float(update()) for _ in range(8)]
assert losses[-1] < losses[0]
