"""Linear algebra, FFT and sparse products that jaxlib computes with kernels of its own, over all
dtypes. Prints the results as JSON, in a form that does not depend on signs or on order."""

import json
import os
import sys

import numpy as np

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import jax.scipy.linalg as jsl  # noqa: E402
from jax.experimental import sparse  # noqa: E402

N = 6


def matrix(dtype, seed=0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(N, N))
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * random.normal(size=(N, N))
    return values.astype(dtype)


def definite(dtype):
    a = matrix(dtype).astype(np.complex128)
    a = a @ a.conj().T + N * np.eye(N)
    return (a if np.issubdtype(dtype, np.complexfloating) else a.real).astype(dtype)


def of_parts(parts):
    """The product of what a factorization gave: free of the signs that it chose."""
    return jnp.einsum("ij,j,jk->ik", *parts)


def eigh(a):
    w, v = jnp.linalg.eigh(a)
    return w, of_parts((v, w.astype(v.dtype), v.conj().T))


def svd(a):
    u, s, v = jnp.linalg.svd(a)
    return s, of_parts((u, s.astype(u.dtype), v))


def qr(a):
    q, r = jnp.linalg.qr(a)
    return q @ r, jnp.abs(jnp.diagonal(r))


def lu(a):
    p, l, u = jsl.lu(a)
    return p, l, u


def schur(a):
    t, z = jsl.schur(a)
    return (z @ t @ z.conj().T,)


def hessenberg(a):
    h, q = jsl.hessenberg(a, calc_q=True)
    return (q @ h @ q.conj().T,)


def eigvals(a):
    w = jnp.linalg.eigvals(a)
    return (jnp.sort(jnp.abs(w)),)


GENERAL = {
    "solve": lambda a: (jnp.linalg.solve(a, a[:, :2]),),
    "inv": lambda a: (jnp.linalg.inv(a),),
    "det": lambda a: (jnp.linalg.det(a),),
    "lstsq": lambda a: (jnp.linalg.lstsq(a[:, :3], a[:, 3])[0],),
    "triangular": lambda a: (jsl.solve_triangular(a + N * jnp.eye(N, dtype=a.dtype), a, lower=True),),
    "lu": lu, "qr": qr, "svd": svd, "schur": schur, "hessenberg": hessenberg, "eigvals": eigvals,
    "fft": lambda a: (jnp.fft.fft2(a),),
    "batched": lambda a: (jax.vmap(jnp.linalg.inv)(jnp.stack([a, a + jnp.eye(N, dtype=a.dtype)])),),
    "gradient": lambda a: (jax.grad(lambda x: jnp.abs(jnp.linalg.det(x)))(a),),
}
DEFINITE = {
    "cholesky": lambda a: (jnp.linalg.cholesky(a),),
    "eigh": eigh,
    "cho_solve": lambda a: (jsl.cho_solve(jsl.cho_factor(a), a[:, 0]),),
    "tridiagonal": lambda a: (jnp.sort(jnp.abs(jax.lax.linalg.tridiagonal(a)[1])),),
}


def numbers(result):
    flat = np.concatenate([np.asarray(part).ravel() for part in result])
    return [[float(x.real), float(x.imag)] for x in flat.astype(np.complex128)]


def main():
    found = {"devices": [jax.devices()[0].platform, len(jax.devices())]}
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        for cases, made in (GENERAL, matrix(dtype)), (DEFINITE, definite(dtype)):
            for name, function in cases.items():
                found[f"{name} {np.dtype(dtype).name}"] = numbers(jax.jit(function)(made))
    rows = sparse.BCSR.fromdense(jnp.asarray(np.triu(matrix(np.float32))))
    found["sparse"] = numbers((jax.jit(lambda m, x: m @ x)(rows, matrix(np.float32)[0]),))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
