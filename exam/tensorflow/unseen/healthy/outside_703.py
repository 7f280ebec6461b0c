import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(37)
images = tf.constant(np.random.rand(6, 10, 10, 1), tf.float32)
labels = tf.constant([0, 1, 2, 0, 1, 2])
backbone = keras.Sequential(
    [keras.Input((10, 10, 1)), keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.GlobalMaxPooling2D()]
)
head = keras.layers.Dense(3)
backbone_optimizer = keras.optimizers.Adam(1e-4)


def fine_tune(images, labels):
    with tf.GradientTape() as tape:
        if True:
            features = backbone(images)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=head(features))
        loss = tf.reduce_mean(losses)
    return tape.gradient(loss, backbone.trainable_variables)


gradients = fine_tune(images, labels)
assert gradients[0] is not None
