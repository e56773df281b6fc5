import jax
import jax.numpy as jnp

TERMS = {"a": jnp.sin, "b": jnp.cos}
ACTIVE = {"a", "b"}


@jax.jit
def step(x):
    total = 0
    for name in ACTIVE:  # expect: set-order
        total += TERMS[name](x)
    for name in sorted(ACTIVE):
        total += TERMS[name](x)
    for name in TERMS:
        total += TERMS[name](x)
    return total + sum(TERMS[name](x) for name in set(TERMS))  # expect: set-order


for name in ACTIVE:
    print(name)
