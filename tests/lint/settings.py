import os

import jax

os.environ["JAX_DISABLE_JIT"] = "1"  # expect: debug-setting
os.environ["XLA_USE_BF16"] = "0"
os.environ.setdefault("XLA_USE_BF16", "1")  # expect: debug-setting
jax.config.update("jax_disable_jit", True)  # expect: debug-setting
jax.config.update("jax_disable_jit", False)
jax.config.update("jax_enable_x64", True)
