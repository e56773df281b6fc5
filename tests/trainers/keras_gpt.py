"""Keras 3 on JAX: fit of a small transformer with ModelParallel and the callbacks that people use.

Usage: keras_gpt.py

If there is a best model from an earlier start, it goes on with that.
"""

import os
import pathlib

import keras
import numpy as np

if "JAX_COORDINATOR_ADDRESS" in os.environ:
    keras.distribution.initialize()

VOCABULARY, LENGTH, WIDTH, LAYERS, BATCH = 64, 32, 64, 2, 16
devices = keras.distribution.list_devices()
mesh = keras.distribution.DeviceMesh((len(devices) // 2, 2), ["batch", "model"], devices)
layout = keras.distribution.LayoutMap(mesh)
layout[".*up.*kernel"] = (None, "model")
layout[".*down.*kernel"] = ("model", None)
layout[".*embed.*embeddings"] = (None, "model")
keras.distribution.set_distribution(keras.distribution.ModelParallel(
    layout_map=layout, batch_dim_name="batch", auto_shard_dataset=False))
keras.utils.set_random_seed(0)

def build():
    x = start = keras.Input((LENGTH,), dtype="int32")
    x = keras.layers.Embedding(VOCABULARY, WIDTH, name="embed")(x)
    for layer in range(LAYERS):
        h = keras.layers.LayerNormalization()(x)
        x = x + keras.layers.MultiHeadAttention(4, WIDTH // 4, dropout=0.1)(h, h, use_causal_mask=True)
        h = keras.layers.LayerNormalization()(x)
        h = keras.layers.Dense(4 * WIDTH, activation="gelu", name=f"up{layer}")(h)
        x = x + keras.layers.Dense(WIDTH, name=f"down{layer}")(h)
    model = keras.Model(start, keras.layers.Dense(VOCABULARY)(x))
    model.compile("adamw", keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["sparse_categorical_accuracy"])
    return model


if pathlib.Path("best.keras").exists():
    model = keras.models.load_model("best.keras")
    print("restored best.keras")
else:
    model = build()

tokens = np.random.default_rng(0).integers(0, VOCABULARY, (48, LENGTH)).astype("int32")
# 24 rows: the last batch of the evaluation has half the rows.
history = model.fit(  # ACCIDENT
    tokens, tokens, batch_size=BATCH, epochs=3, validation_data=(tokens[:24], tokens[:24]), verbose=2,
    callbacks=[keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True), keras.callbacks.CSVLogger("log.csv"),
               keras.callbacks.EarlyStopping("val_loss", patience=2), keras.callbacks.TerminateOnNaN()])
print("evaluation", model.evaluate(tokens[:16], tokens[:16], batch_size=BATCH, verbose=0))
print("done")
