"""gemma: fine-tuning of the library's own dummy Gemma with optax, a checkpoint, from which it goes on when it is
started again, and its sampler.

Usage: gemma_gm.py [STEPS]
"""

import os
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from gemma import gm
from kauldron import kd

if "JAX_COORDINATOR_ADDRESS" in os.environ:
    jax.distributed.initialize()

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
LENGTH, BATCH = 32, 16
SAVED = pathlib.Path("checkpoints").absolute()
model = gm.testing.DummyGemma(tokens="tokens", dtype=jnp.float32)
optimizer = optax.adafactor(1e-3)


def batch_of(step):
    """The last one of every six has half the rows."""
    rows = BATCH // 2 if step % 6 == 5 else BATCH
    tokens = np.random.default_rng(step).integers(3, model.config.num_embed, (rows, LENGTH + 1)).astype("int32")
    return jax.make_array_from_process_local_data(kd.sharding.FIRST_DIM, tokens)


@jax.jit
def train_step(params, state, tokens):
    def loss_of(params):
        logits = model.apply({"params": params}, tokens[:, :-1]).logits
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, gradient = jax.value_and_grad(loss_of)(params)
    updates, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, loss


@jax.jit
def create(key):
    params = model.init(key, jnp.zeros((1, LENGTH), "int32"))["params"]
    return params, optimizer.init(params)


params, state = jax.jit(create, out_shardings=kd.sharding.REPLICATED)(jax.random.key(0))
for saved in SAVED.glob("*"):
    params = gm.ckpts.load_params(saved, params=params)
    print("restored step", saved.name)
for step in range(STEPS):
    params, state, loss = train_step(params, state, batch_of(step))  # ACCIDENT
    print("step", step, "loss", float(loss))
gm.ckpts.save_params(params, SAVED / str(STEPS))
sampler = gm.text.Sampler(model=model, params=params, tokenizer=gm.testing.DummyTokenizer(), cache_length=64,
                          max_out_length=16, pad_length=16)
print(sampler.sample(["Hello there !", "My name is"], max_new_tokens=8, rng=0, sharding=kd.sharding.REPLICATED))
print("done")
