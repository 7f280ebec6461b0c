"""Attention, and layers that normalise, pad, crop and convolve each channel for itself."""

import tensorflow as tf
from tensorflow.keras import layers

small = tf.keras.initializers.Constant(0.1)
x = tf.reshape(tf.range(24.0), [2, 3, 4]) / 24.0
heads = layers.MultiHeadAttention(num_heads=2, key_dim=3, kernel_initializer=small)
output, scores = heads(x, x, return_attention_scores=True)
print(output[0, 0], scores.shape, [w.shape for w in heads.weights])
print(heads(x, x, use_causal_mask=True)[0, 0])
print(layers.Attention()([x, x])[0, 0], layers.Attention(use_scale=True)([x, x[:, :2]])[1, 2])
print(layers.LayerNormalization()(x)[0, 0], layers.GroupNormalization(groups=2)(x)[0, 0])
print(layers.UnitNormalization()(x)[0, 1], layers.RMSNormalization()(x)[0, 1])
print(layers.PReLU(alpha_initializer=small)(x - 0.5)[0, 0])
print(layers.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d", kernel_initializer=small)(x)[0, 0])
image = tf.reshape(tf.range(32.0), [1, 4, 4, 2]) / 32.0
print(layers.DepthwiseConv2D(2, depthwise_initializer=small)(image)[0, 0])
print(layers.SeparableConv2D(3, 2, depthwise_initializer=small, pointwise_initializer=small)(image)[0, 0])
for layer in (
    layers.ZeroPadding1D(1),
    layers.Cropping1D((1, 0)),
    layers.UpSampling1D(2),
    layers.SpatialDropout1D(0.5),
):
    print(type(layer).__name__, layer(x).shape)
volume = tf.ones([1, 4, 4, 4, 1])
print(layers.MaxPooling3D(2)(volume).shape, layers.Conv3DTranspose(2, 2)(volume).shape)
