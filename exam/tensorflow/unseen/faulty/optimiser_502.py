# expect: GT513 or GT512 or GT314
# cause: the optimiser was built for the old head and does not know the variables of the new one
# wrong: raises ValueError
# cure: adam.build(body.trainable_variables + head.trainable_variables)  # <- here\n -> \n
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)
x = np.random.randn(10, 4).astype("float32")
labels = np.random.randint(0, 2, 10)
body = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, activation="relu")])
head = keras.Sequential([keras.Input((6,)), keras.layers.Dense(10)])
adam = keras.optimizers.Adam(0.01)
adam.build(body.trainable_variables + head.trainable_variables)  # <- here

head = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])  # <- here
for _ in range(2):
    with tf.GradientTape() as tape:
        logits = head(body(x))
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True))
    variables = body.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)
    adam.apply_gradients(zip(grads, variables))  # <- asked
