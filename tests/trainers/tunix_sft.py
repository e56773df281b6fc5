"""Tunix: fine-tuning of a small Llama 3 by PeftTrainer, with an evaluation and a checkpoint every three steps, from
which it goes on when it is started again, and then its sampler.

Usage: tunix_sft.py [STEPS]
"""

import os
import pathlib
import sys

import jax
import numpy as np
import optax
import orbax.checkpoint as ocp
from absl import logging
from flax import nnx
from tunix.generate.sampler import CacheConfig, Sampler
from tunix.models.llama3.model import Llama3, ModelConfig
from tunix.sft.peft_trainer import PeftTrainer, TrainingConfig, TrainingInput

if "JAX_COORDINATOR_ADDRESS" in os.environ:
    jax.distributed.initialize()

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
VOCABULARY, LENGTH, BATCH, LAYERS, HEADS, HEAD = 256, 32, 16, 2, 4, 16
logging.set_verbosity(logging.INFO)
tensors = min(4, jax.device_count() // 2)
mesh = jax.make_mesh((jax.device_count() // tensors, tensors), ("fsdp", "tp"),
                     axis_types=(jax.sharding.AxisType.Auto,) * 2)


class Words:
    """A tokenizer that needs no file."""

    def bos_id(self):
        return 1

    def eos_id(self):
        return 2

    def pad_id(self):
        return 0

    def encode(self, text, **_):
        return [3 + ord(letter) % (VOCABULARY - 3) for letter in text]

    def decode(self, tokens, **_):
        return " ".join(map(str, tokens))


@nnx.jit
def create():
    model = Llama3(ModelConfig(num_layers=LAYERS, vocab_size=VOCABULARY, embed_dim=64, hidden_dim=128, num_heads=HEADS,
                               head_dim=HEAD, num_kv_heads=HEADS, rope_theta=10000, norm_eps=1e-5), rngs=nnx.Rngs(0))
    state = nnx.state(model)
    nnx.update(model, jax.lax.with_sharding_constraint(state, nnx.get_partition_spec(state)))
    return model


def batches(count):
    """The last one of every six has half the rows."""
    for step in range(count):
        rows = BATCH // 2 if step % 6 == 5 else BATCH
        tokens = np.random.default_rng(step).integers(3, VOCABULARY, (rows, LENGTH)).astype("int32")
        yield TrainingInput(input_tokens=tokens, input_mask=np.ones(tokens.shape, bool))


def inputs(batch):
    rows, length = batch.input_tokens.shape
    return {"input_tokens": batch.input_tokens, "input_mask": batch.input_mask,
            "positions": np.broadcast_to(np.arange(length), (rows, length)),
            "attention_mask": np.broadcast_to(np.tril(np.ones((length, length), bool)), (rows, length, length))}


with mesh:
    model = create()
    trainer = PeftTrainer(model, optax.adamw(1e-3), TrainingConfig(
        eval_every_n_steps=3, max_steps=STEPS, checkpoint_root_directory=str(pathlib.Path("checkpoints").absolute()),
        checkpointing_options=ocp.CheckpointManagerOptions(save_interval_steps=3))).with_gen_model_input_fn(inputs)
    trainer.train(batches(STEPS), list(batches(2)))  # ACCIDENT
    sampler = Sampler(model, Words(), CacheConfig(cache_size=64, num_layers=LAYERS, num_kv_heads=HEADS, head_dim=HEAD))
    print(sampler(["hello", "hi there"], max_generation_steps=12).text)
print("done")
