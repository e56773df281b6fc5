# cause: dtype
# old: f32[4,4]
# new: bf16[4,4]
# reason: the array is converted back where it is used, so that nothing else differs
import jax
import jax.numpy as jnp


def serve(first, second):
    def step(x):
        hidden = jnp.tanh(x @ first)
        return (hidden @ second).sum()  # <- cause

    return jax.jit(step)


weights = jnp.eye(4) * 0.7 + 0.1
x = jnp.ones((8, 4))
serve(weights, weights)(x)
serve(weights, weights.astype(jnp.bfloat16))(x)  # <- call
