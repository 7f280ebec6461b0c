# expect: GT201 or GT208 or GT211 because GT211 or GT208
# cause: recording was stopped around the backbone while it was frozen, and is not any more
# wrong: gradients[0] is None
# cure: with tape.stop_recording():  # <- here\n            features = backbone(images)  # <- here -> if True:\n            features = backbone(images)
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
        with tape.stop_recording():  # <- here
            features = backbone(images)  # <- here
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=head(features))
        loss = tf.reduce_mean(losses)
    return tape.gradient(loss, backbone.trainable_variables)  # <- asked


gradients = fine_tune(images, labels)
