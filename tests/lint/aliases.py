from functools import partial as bind

from jax import jit as compiled
from jax import lax as L
import jax.numpy as J
from equinox import filter_jit
import flax.nnx as nnx
import torch
import jax


@compiled
def f(x):
    return x if J.sum(x) > 0 else -x  # expect: branch-on-value


@bind(compiled, static_argnums=0)
def g(n, x):
    if n > 0:
        return x
    return x if x > 0 else -x  # expect: branch-on-value


@filter_jit
def h(x, n):
    if n > 0:
        return L.cond(x.sum() > 0, lambda y: -y, lambda y: y, x)
    return x if J.any(x) else n  # expect: branch-on-value


@nnx.jit
def train(model, x):
    if model.training:
        return model(x)
    return x if x.sum() > 0 else -x  # expect: branch-on-value


class Net(torch.nn.Module):
    # PyTorch alone branches as it likes.
    def forward(self, x: torch.Tensor):
        return x if x.sum() > 0 else -x


def sum(x):
    return 0


@compiled
def shadowed(x):
    jnp = x.helper
    float = x.convert
    return float(x) + (1 if jnp.any(x) else 0)
