# cause: arguments
# subject: history[1]
# old: absent
# new: f32[3]
# reason: where there was one entry, the client broadcasts along no dimension; that follows too
import jax
import jax.numpy as jnp


@jax.jit
def step(w, history):
    entries = jnp.stack(history)
    return w + 0.1 * jnp.mean(entries - w, axis=0)


w = jnp.zeros(3)
history = []
for i in range(2):
    history.append(jnp.full(3, float(i)))
    w = step(w, history)  # <- cause
