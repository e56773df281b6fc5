"""Kauldron: its Trainer fine-tunes gemma's dummy Gemma, with an evaluation and a checkpoint every three steps, from
which it goes on when it is started again.

Usage: kauldron_gemma.py [STEPS]
"""

import os
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from absl import logging
from gemma import gm
from kauldron import kd

if "JAX_COORDINATOR_ADDRESS" in os.environ:
    jax.distributed.initialize()

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
LENGTH, BATCH = 32, 64
logging.set_verbosity(logging.INFO)


class Examples:
    """Tokens that are made up."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        tokens = np.random.default_rng(index).integers(3, 13, LENGTH + 1).astype("int32")
        return {"input": tokens[:-1], "target": tokens[1:, None]}


def data(rows, **options):
    return kd.data.py.DataSource(Examples(rows), seed=0, batch_size=BATCH, num_epochs=1, num_workers=0, shuffle=False,
                                 **options)


losses = {"loss": kd.losses.SoftmaxCrossEntropyWithIntLabels(logits="preds.logits", labels="batch.target")}
trainer = kd.train.Trainer(
    seed=0, workdir=pathlib.Path("out").absolute(), num_train_steps=STEPS - 1, log_metrics_every=1,
    # The last batch has half the rows.
    train_ds=data(STEPS * BATCH - BATCH // 2, batch_drop_remainder=False),
    model=gm.testing.DummyGemma(tokens="batch.input", dtype=jnp.float32), optimizer=optax.adafactor(1e-3),
    train_losses=losses, evals={"test": kd.evals.Evaluator(run=kd.evals.EveryNSteps(3), ds=data(2 * BATCH))},
    checkpointer=kd.ckpts.Checkpointer(save_interval_steps=3, max_to_keep=2))
_, last = trainer.train()  # ACCIDENT
print({name: float(value) for name, value in last.compute().loss_values.items()})
print("done")
