# expect: GT501
# cause: the softmax runs over the batch (axis 0) and the loss reads it class by class
# wrong: not np.allclose(tf.reduce_sum(probs, axis=1), 1.0, atol=1e-4)
# cure: tf.nn.softmax(scores, axis=0) -> tf.nn.softmax(scores, axis=1)
import tensorflow as tf

tf.keras.utils.set_random_seed(31)
net = tf.keras.layers.Dense(5)
x = tf.random.normal((14, 6))
target = tf.one_hot(tf.range(14) % 5, 5)
optimizer = tf.keras.optimizers.SGD(0.1)


def forward(x):
    scores = net(x)
    return tf.nn.softmax(scores, axis=0)  # <- here


for _ in range(3):
    with tf.GradientTape() as tape:
        probs = forward(x)
        loss = -tf.reduce_mean(tf.reduce_sum(target * tf.math.log(probs + 1e-8), axis=1))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
