# expect: GT118
# cause: one-hot labels are given to the sparse cross entropy, which takes class numbers
# wrong: raises ValueError
# cure: loss_fn(one_hot, net(x)) -> loss_fn(classes, net(x))
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(28)
x = np.random.randn(15, 4).astype("float32")
classes = np.arange(15) % 3
one_hot = tf.keras.utils.to_categorical(classes, 3)
net = tf.keras.layers.Dense(3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = loss_fn(one_hot, net(x))  # <- here
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
