"""A small GPT with flax nnx on a mesh: nnx.jit, nnx.Optimizer, dropout, an evaluation, and a checkpoint by Orbax
every four steps, from which it goes on when it is started again.

Usage: nnx_gpt.py [STEPS]
"""

import os
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from flax import nnx
from jax.sharding import AxisType, NamedSharding, PartitionSpec

if "JAX_COORDINATOR_ADDRESS" in os.environ:
    jax.distributed.initialize()

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
WIDTH, VOCABULARY, LENGTH, LAYERS, BATCH = 128, 256, 64, 3, 16
model_axis = min(4, jax.device_count() // 2)
mesh = jax.make_mesh((jax.device_count() // model_axis, model_axis), ("data", "model"),
                     axis_types=(AxisType.Auto, AxisType.Auto))
part = nnx.with_partitioning


class Block(nnx.Module):
    def __init__(self, rngs):
        first, zeros = nnx.initializers.lecun_normal(), nnx.initializers.zeros_init()
        self.norms = nnx.List([nnx.LayerNorm(WIDTH, rngs=rngs) for _ in range(2)])
        self.attention = nnx.MultiHeadAttention(8, WIDTH, decode=False, rngs=rngs,
                                                kernel_init=part(first, (None, "model")),
                                                bias_init=part(zeros, ("model",)),
                                                out_bias_init=zeros)
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs, kernel_init=part(first, (None, "model")),
                             bias_init=part(zeros, ("model",)))
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs, kernel_init=part(first, ("model", None)))
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x):
        mask = nnx.make_causal_mask(jnp.ones(x.shape[:2]))
        x = x + self.dropout(self.attention(self.norms[0](x), mask=mask))
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


class GPT(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.head = nnx.Linear(WIDTH, VOCABULARY, rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@nnx.jit
def create():
    model = GPT(nnx.Rngs(0, dropout=1))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
    for made in (model, optimizer):
        state = nnx.state(made)
        nnx.update(made, jax.lax.with_sharding_constraint(state, nnx.get_partition_spec(state)))
    return model, optimizer


def loss_of(model, batch):
    logits = model(batch[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch[:, 1:]).mean()


@nnx.jit
def train_step(model, optimizer, batch):
    loss, gradient = nnx.value_and_grad(loss_of)(model, batch)
    optimizer.update(model, gradient)
    return loss


@nnx.jit
def evaluate(model, batch):
    return loss_of(model, batch)


def batch_of(step):
    """The last one of every six has half the rows."""
    rows = BATCH // 2 if step % 6 == 5 else BATCH
    tokens = np.random.default_rng(step).integers(0, VOCABULARY, (rows, LENGTH + 1)).astype("int32")
    return jax.make_array_from_callback(tokens.shape, NamedSharding(mesh, PartitionSpec("data")),
                                        lambda index: tokens[index])


with jax.set_mesh(mesh), ocp.CheckpointManager(
        pathlib.Path("checkpoints").absolute(), options=ocp.CheckpointManagerOptions(max_to_keep=2)) as manager:
    model, optimizer = create()
    model.train()
    first = 0
    if manager.latest_step() is not None:
        state = nnx.state((model, optimizer))
        wanted = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
        nnx.update((model, optimizer), manager.restore(manager.latest_step(), args=ocp.args.StandardRestore(wanted)))
        first = manager.latest_step() + 1
        print("restored step", manager.latest_step())
    for step in range(first, STEPS):
        loss = train_step(model, optimizer, batch_of(step))  # ACCIDENT
        print("step", step, "loss", float(loss))
        if step % 4 == 3:
            model.eval()
            print("evaluation", float(evaluate(model, batch_of(0))))
            model.train()
            manager.save(step, args=ocp.args.StandardSave(nnx.state((model, optimizer))))
    manager.wait_until_finished()
print("done")
