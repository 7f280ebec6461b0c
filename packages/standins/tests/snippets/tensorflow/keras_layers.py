"""Keras layers with known variables: outputs and gradients."""

import numpy as np
import tensorflow as tf

tf.keras.backend.clear_session()
layers = tf.keras.layers


def filled(layer, *shapes):
    x = tf.reshape(tf.linspace(-1.0, 1.0, int(np.prod(shapes[0]))), shapes[0])
    layer(x)
    layer.set_weights([np.linspace(-0.5, 0.5, w.numpy().size).reshape(w.shape) for w in layer.weights])
    with tf.GradientTape() as tape:
        y = layer(x)
        loss = tf.reduce_sum(y * y)
    gradients = tape.gradient(loss, layer.trainable_variables)
    print(type(layer).__name__, [(w.name, tuple(w.shape)) for w in layer.weights])
    print("  ", y.shape, y.numpy().ravel()[:4].round(4).tolist())
    for g in gradients:
        print("  ", g.shape, g.numpy().ravel()[:3].round(3).tolist())


filled(layers.Dense(3, activation="tanh"), (2, 4))
filled(layers.Dense(2, use_bias=False), (2, 3, 4))
filled(layers.Conv2D(2, 3, activation="relu"), (1, 5, 5, 2))
filled(layers.Conv2D(2, (2, 3), strides=2, padding="same"), (1, 5, 5, 1))
filled(layers.Conv1D(3, 2), (2, 6, 2))
filled(layers.Conv2DTranspose(2, 3, strides=2, padding="same"), (1, 3, 3, 2))
filled(layers.LSTM(3), (2, 4, 5))
filled(layers.LSTM(2, return_sequences=True), (1, 3, 2))
filled(layers.GRU(3), (2, 4, 5))
filled(layers.SimpleRNN(3), (2, 4, 5))
filled(layers.BatchNormalization(center=False), (4, 3))
filled(layers.LayerNormalization(), (2, 6))

embedding = layers.Embedding(5, 2)
embedding.build(None)
embedding.set_weights([np.arange(10.0).reshape(5, 2)])
print(embedding(tf.constant([[0, 4], [2, 2]])))
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
print(layers.Flatten()(x).shape, layers.MaxPooling2D()(x)[0, :, :, 0], layers.GlobalAveragePooling2D()(x))
print(layers.Dropout(0.5)(x, training=False).shape, layers.Reshape((2, 8))(x).shape)
bn = layers.BatchNormalization(momentum=0.9)
print(bn(tf.constant([[1.0, 2.0], [3.0, 6.0]]), training=True))
print(bn.moving_mean.numpy(), bn.moving_variance.numpy())
print(layers.Dense(2), layers.Dense(2, name="named").name)
