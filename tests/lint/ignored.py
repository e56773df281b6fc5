import jax


@jax.jit
def f(x):
    if x.sum() > 0:  # keel: ignore
        x = -x
    if x.sum() > 0:  # keel: ignore[branch-on-value]
        x = -x
    if x.sum() > 0:  # keel: ignore[host-read, branch-on-value] because it is a test
        x = -x
    # keel: ignore[branch-on-value]
    if x.sum() > 0:
        x = -x
    if x.sum() > 0:  # keel: ignore[host-read]  # expect: branch-on-value
        x = -x
    if x.sum() > 0:  # keel: ignore [host-read]  # expect: branch-on-value
        x = -x
    if x.sum() > 0:  # keel: ignored once  # expect: branch-on-value
        x = -x
    if x.sum() > len("# keel: ignore"):  # expect: branch-on-value
        x = -x
    return x
