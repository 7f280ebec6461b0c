# expect: GT201 because GT205
# cause: the latent code is clipped, which binds the name to a new tensor, before its gradient is asked
# wrong: grads is None
# cure: z = tf.clip_by_value(z, -2.0, 2.0) -> z.assign(tf.clip_by_value(z, -2.0, 2.0))
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
target = tf.constant(rng.normal(size=(12,)), tf.float32)
decoder = tf.constant(rng.normal(size=(4, 12)), tf.float32)
z = tf.Variable(tf.zeros((1, 4)), name="latent")
opt = tf.keras.optimizers.SGD(0.05)

for it in range(3):
    with tf.GradientTape() as tape:
        reconstruction = tf.tanh(z @ decoder)
        loss = tf.reduce_sum((reconstruction - target) ** 2)
    grads = tape.gradient(loss, z)  # <- asked
    if grads is None:
        print("iteration", it, "grads is None?!")
        break
    opt.apply_gradients([(grads, z)])
    z = tf.clip_by_value(z, -2.0, 2.0)  # <- here
