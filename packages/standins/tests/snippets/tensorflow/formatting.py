"""Tensors in f-strings are their numbers; variables are not."""

import tensorflow as tf

loss = tf.constant(1.0986123)
print(f"{loss} {loss:.3f} {loss:8.2f}|")
print(f"{tf.constant([1.0, 2.5])} {tf.constant(2):.1f} {tf.constant(True)}")
print(f"{tf.Variable(2.0, name='v')}")
print(f"{tf.constant([[1, 2], [3, 4]])}")
print(f"{tf.constant('text')} {tf.argmax([1.0, 3.0])}")
accuracy = tf.keras.metrics.Mean()
accuracy.update_state([0.0, 1.0, 1.0])
print(f"Accuracy: {accuracy.result():.3%}")
try:
    print(f"{tf.Variable(2.0):.2f}")
except TypeError as error:
    print(type(error).__name__)
