# What a child of `keel run` sees.
export KEEL_RUN_DIR=runs
show='env | grep -E "^(KEEL_|PJRT_|JAX_|TPU_)" | sort'
keel run --quiet --cache-dir cache --mode readonly -- sh -c "$show"
echo
PJRT_NAMES_AND_LIBRARY_PATHS=mine:/x.so,keel:/old.so JAX_PLATFORMS=cpu keel run --quiet -- \
    sh -c 'echo $PJRT_NAMES_AND_LIBRARY_PATHS $JAX_PLATFORMS'
# Any library with GetPjrtApi will do here.
cp "$(dirname "$(command -v keel)")/../lib/libkeel_pjrt.so" libtpu.so
cp libtpu.so other.so
PJRT_NAMES_AND_LIBRARY_PATHS=mine:/x.so,keel:/old.so JAX_PLATFORMS=cpu keel run --quiet \
    --plugin other.so -- sh -c 'echo $PJRT_NAMES_AND_LIBRARY_PATHS $JAX_PLATFORMS'
keel run --quiet --plugin libtpu.so -- \
    sh -c 'echo $TPU_LIBRARY_PATH $JAX_PLATFORMS ${PJRT_NAMES_AND_LIBRARY_PATHS-unset}'
# A plugin by name is the one of the Python that runs the command.
mkdir -p venv/bin venv/lib/python3.12/site-packages/libtpu
cp libtpu.so venv/lib/python3.12/site-packages/libtpu/libtpu.so
printf '#!/bin/sh\necho $KEEL_PLUGIN\n' >venv/bin/python && chmod +x venv/bin/python
keel run --quiet --plugin tpu -- venv/bin/python
printf '#!%s/venv/bin/python\n' "$HOME" >venv/bin/tool && chmod +x venv/bin/tool
keel run --quiet --plugin tpu -- venv/bin/tool
# What clients read stays for the package, which chooses the plugin.
jax='echo $JAX_PLATFORMS found ${KEEL_FOUND_PLUGIN+one} ${PJRT_NAMES_AND_LIBRARY_PATHS-unset}'
JAX_PLATFORMS=cuda keel run --quiet -- sh -c "$jax"
JAX_PLATFORMS=gpu,cpu keel run --quiet -- sh -c "$jax"
JAX_PLATFORMS=cpu keel run --quiet -- sh -c "$jax"
PJRT_DEVICE=TPU keel run --quiet -- \
    sh -c 'echo $PJRT_DEVICE ${PJRT_LIBRARY_PATH-unset}'
# A plugin that was named is wrapped whatever the client would have used; so it is further down.
jax='echo $JAX_PLATFORMS found ${KEEL_FOUND_PLUGIN+one}'
JAX_PLATFORMS=cuda KEEL_PLUGIN=$HOME/libtpu.so keel run --quiet -- sh -c "$jax"
JAX_PLATFORMS=cuda KEEL_PLUGIN=$HOME/libtpu.so \
    KEEL_FOUND_PLUGIN=$HOME/libtpu.so keel run --quiet -- sh -c "$jax"
keel run --quiet -- sh -c "KEEL_PLUGIN=$HOME/libtpu.so keel run --quiet -- sh -c '$jax'"
JAX_PLATFORMS=tpu KEEL_RUN_ID=outer keel run --plugin libtpu.so -- true
keel run --quiet -- keel run --quiet -- sh -c 'echo $JAX_PLATFORMS $PJRT_DEVICE below another'
JAX_PLATFORMS=cuda PJRT_DEVICE=CUDA keel run --quiet -- \
    keel run --quiet -- sh -c 'echo $JAX_PLATFORMS $PJRT_DEVICE below another'
PJRT_DEVICE=TPU KEEL_RUN_ID=outer keel run --plugin libtpu.so -- true
