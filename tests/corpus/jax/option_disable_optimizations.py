# cause: option
# subject: xla_backend_optimization_level
# old: 3
# new: 0
# and
# cause: option
# subject: xla_llvm_disable_expensive_passes
# old: 0
# new: 1
# and
# cause: option
# subject: xla_test_all_input_layouts
# old: unset
# new: 0

import jax
import jax.numpy as jnp
import numpy as np


def step(x):
    return jnp.exp(x) / 3.0


x = np.ones(8, np.float32)
jax.jit(step)(x)
jax.config.update("jax_disable_most_optimizations", True)
jax.clear_caches()
jax.jit(step)(x)  # <- cause, cause 2, cause 3
