# expect: GT201 because GT211
# cause: the loss is computed after the tape's block, where nothing is recorded
# wrong: all(g is None for g in grads)
# cure: outputs = net(images, training=True) -> outputs = net(images, training=True)\n        loss = criterion(labels, outputs)
# cure: \n    loss = criterion(labels, outputs)  # <- here -> \n
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(13)
net = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="relu"), tf.keras.layers.Dense(3)])
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
rng = np.random.default_rng(13)
points = rng.normal(size=(60, 3)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((points, points.argmax(axis=1))).shuffle(60, seed=1).batch(20)

for images, labels in dataset:
    with tf.GradientTape() as tape:
        outputs = net(images, training=True)
    loss = criterion(labels, outputs)  # <- here
    grads = tape.gradient(loss, net.trainable_variables)  # <- asked
    for v, g in zip(net.trainable_variables, grads):
        if g is not None:
            v.assign_sub(0.1 * g)
