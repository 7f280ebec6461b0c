# a spectral loss with complex numbers, of which only the magnitudes are compared
import numpy as np
import tensorflow as tf

tf.random.set_seed(20)
time = tf.linspace(0.0, 1.0, 64)
wanted = tf.sin(2 * np.pi * 5 * time)
frequency, height = tf.Variable(4.6), tf.Variable(0.8)
with tf.GradientTape() as tape:
    made = height * tf.sin(2 * np.pi * frequency * time)
    spectra = [tf.abs(tf.signal.rfft(s)) + 1e-6 for s in (made, wanted)]
    loss = tf.reduce_mean(tf.abs(tf.math.log(spectra[0]) - tf.math.log(spectra[1])))
gradients = tape.gradient(loss, [frequency, height])
assert all(np.isfinite(g) for g in gradients)
