# expect: GT113
# cause: the two branches are joined along the wrong axis: (8, 4) and (8, 6) along the batch
# wrong: raises InvalidArgumentError
# cure: tf.concat([text_features, image_features], axis=0) -> tf.concat([text_features, image_features], axis=1)
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
text, image = tf.random.normal((8, 20)), tf.random.normal((8, 30))
text_net, image_net, head = layers.Dense(4), layers.Dense(6), layers.Dense(1)


def fuse(text, image):
    text_features = tf.nn.relu(text_net(text))
    image_features = tf.nn.relu(image_net(image))
    return tf.concat([text_features, image_features], axis=0)  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(head(fuse(text, image)) ** 2)  # <- asked
grads = tape.gradient(loss, text_net.trainable_variables)
