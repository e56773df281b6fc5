import jax
import jax.numpy as jnp


@jax.jit
def gather(x, y, n, k):
    rows = x[x > 0]  # expect: boolean-index
    mask = jnp.logical_and(x > 0, y > 0)
    more = y[mask, 0]  # expect: boolean-index
    kept = x.at[mask].set(0)
    where = jnp.nonzero(x)  # expect: data-dependent-shape
    fixed = jnp.nonzero(x, size=4)
    both = jnp.where(mask)  # expect: data-dependent-shape
    chosen = jnp.where(mask, x, y)
    values = jnp.unique(x)  # expect: data-dependent-shape
    few = jnp.unique(x, size=8, fill_value=0)
    places = jnp.argwhere(x > 0)  # expect: data-dependent-shape
    counts = jnp.bincount(n)  # expect: data-dependent-shape
    counted = jnp.bincount(n, length=8)
    long = jnp.repeat(x, n)  # expect: data-dependent-shape
    twice = jnp.repeat(x, 2)
    exact = jnp.repeat(x, n, total_repeat_length=16)
    head = x[:k]  # expect: value-dependent-size
    half = x[: x.shape[0] // 2]
    row = x[k]
    for _ in range(n):  # expect: value-dependent-size
        x = x + 1
    for _ in range(x.shape[0]):
        x = x + 1
    zeros = jnp.zeros(k)  # expect: value-dependent-size
    space = jnp.linspace(x[0], x[1], 5)
    like = jnp.zeros(x.shape)
    return rows, more, kept, where, fixed, both, chosen, values, few, places, counts, counted, long, twice, exact, head, half, row, zeros, space, like


def outside(x):
    return x[x > 0], jnp.nonzero(x)
