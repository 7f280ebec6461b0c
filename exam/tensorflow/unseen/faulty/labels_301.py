# expect: GT118 or GT110
# cause: sigmoid_cross_entropy_with_logits wants equal shapes, and the logits are a column
# wrong: raises ValueError
# cure: logits=logits) -> logits=logits[:, 0])
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.layers.Dense(1)
x = tf.random.normal((24, 4))
clicked = tf.cast(x[:, 0] > 0, tf.float32)
with tf.GradientTape() as tape:
    logits = net(x)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=logits))  # <- here
grads = tape.gradient(loss, net.trainable_variables)
