# cause: structure
# subject: policy.compute_dtype
# old: float32
# new: bfloat16
# advice: in every call or in none

import jmp
import jax, jax.numpy as jnp, numpy as np


def make_loss(policy):
    @jax.jit
    def loss(params, x):
        params, x = policy.cast_to_compute((params, x))  # <- cause
        h = jnp.tanh(x @ params["w"])
        return policy.cast_to_output(h.mean())
    return loss


params, x = {"w": np.ones((8, 4), np.float32)}, np.ones((2, 8), np.float32)
for name in ("params=float32,compute=float32,output=float32", "params=float32,compute=bfloat16,output=float32"):
    loss = make_loss(jmp.get_policy(name))
    loss(params, x)  # <- call
