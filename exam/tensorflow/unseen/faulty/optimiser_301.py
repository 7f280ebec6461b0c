# expect: GT306 or GT512 or GT513 or GT314
# cause: the gradients are listed actor first, the variables critic first: each gets the other's gradient
# wrong: np.allclose(actor.kernel.numpy() - before, -0.1 * grads[1].numpy(), atol=1e-6)
# cure: zip(grads, [critic.kernel, actor.kernel]) -> zip(grads, [actor.kernel, critic.kernel])
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
actor, critic = keras.layers.Dense(4, use_bias=False), keras.layers.Dense(4, use_bias=False)
x, y = tf.random.normal((16, 6)), tf.random.normal((16, 4))
optimizer = keras.optimizers.SGD(0.1)
actor.build((None, 6))
before = actor.kernel.numpy()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((actor(x) - y) ** 2) + tf.reduce_mean(tf.abs(critic(x) + y))
grads = tape.gradient(loss, [actor.kernel, critic.kernel])
optimizer.apply_gradients(zip(grads, [critic.kernel, actor.kernel]))  # <- here
