# cause: weak_type
# subject: scale
# old: weak f32[]
# new: f32[]

import jax
import jax.numpy as jnp
import numpy as np


def init(key):
    a, b = jax.random.split(key)
    return {"w": jax.random.normal(a, (8, 8), jnp.bfloat16), "v": jax.random.normal(b, (8,), jnp.bfloat16)}


def logits(params, x):
    return jax.nn.silu(x @ params["w"]) @ params["v"]


@jax.jit
def guided(params, x, condition, scale):
    plain = logits(params, x)
    steered = logits(params, x + condition)
    return plain + (steered - plain) * scale


class Sampler:
    def __init__(self, params, scale=1.5):
        self.params, self.scale = params, scale

    def draw(self, x, condition):
        return np.asarray(guided(self.params, x, condition, self.scale), np.float32)  # <- cause


class ScheduledSampler(Sampler):
    def __init__(self, params, scales):
        super().__init__(params)
        self.scales = jnp.asarray(scales, jnp.float32)

    def draw_all(self, x, condition):
        for scale in np.asarray(self.scales):
            self.scale = scale
            yield self.draw(x, condition)


params = jax.jit(init)(jax.random.key(0))
x = np.ones((4, 8), jnp.bfloat16)
condition = np.full((4, 8), 0.5, jnp.bfloat16)
print(Sampler(params).draw(x, condition).mean())
print([float(row.mean()) for row in ScheduledSampler(params, [1.0, 2.0, 3.0]).draw_all(x, condition)])
