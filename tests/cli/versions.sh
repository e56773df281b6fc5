# A client or a plugin that Keel was not tried with is said before the command starts; a plugin that
# cannot work is refused.
export KEEL_RUN_DIR=runs KEEL_CACHE_DIR=cache
packages=venv/lib/python3.12/site-packages
mkdir -p venv/bin $packages
printf '#!/bin/sh\necho ran $KEEL_TOLD\n' >venv/bin/python && chmod +x venv/bin/python
echo 'version = 3.12.4' >venv/pyvenv.cfg
installed() {
    rm -rf "$packages"/*.dist-info
    for name; do mkdir "$packages/$name.dist-info"; done
}
try() {
    keel run --quiet -- venv/bin/python; echo "exit $?"
}
say() { # quiet says nothing of versions either
    keel run -- venv/bin/python 2>&1 | grep -v 'nothing was recorded'
}
installed jax-0.12.0; say
installed jax-0.13.1; say; try
installed jax-0.4.30; say
installed torch_xla-2.5.0; say
# Which of two is used, the command alone knows; and what is not Python has no packages.
installed torch_xla-2.5.0 jax-0.13.1; say
printf '#!/bin/sh\necho ran $KEEL_TOLD\n' >tool && chmod +x tool
keel run --quiet -- ./tool; echo "exit $?"
# A version manager's script stands elsewhere than the packages of what it starts.
mkdir shims && printf '#!/bin/sh\ntest "$1" = -c && echo %s/venv/bin/python || echo ran\n' "$PWD" >shims/python3
chmod +x shims/python3
installed jax-0.13.1; keel run -- shims/python3 2>&1 | grep -v 'nothing was recorded'
PATH=$PWD/shims:$PATH VIRTUAL_ENV= keel bundle --fast | sed -n '/^clients/,/^interpreter/p'
# So does a script say which Python it is for, by its place or by its name.
cp shims/python3 venv/bin/python3
for line in "#!$PWD/venv/bin/python3" '#!/usr/bin/env python3' '#!/usr/bin/env -S python3 -u' \
    '#! /usr/bin/env none'; do
    printf '%s\n' "$line" >script && chmod +x script
    echo "${line##*/}"
    PATH=$PWD/venv/bin:$PATH keel run -- ./script 2>&1 | grep 'jax'
done
installed jax-nonsense; say
# Plugins.
export KEEL_PLUGIN="$(dirname "$(command -v keel)")/../lib/keel_test_plugin.so"
TEST_PLUGIN='minor=200' keel run -- ./tool; echo "exit $?"
TEST_PLUGIN='minor=40' keel run -- ./tool; echo "exit $?"
TEST_PLUGIN='major=1' keel run -- ./tool; echo "exit $?"
TEST_PLUGIN='major=1' keel bundle --python venv/bin/python | grep refused
TEST_PLUGIN='no_client' keel bundle --python venv/bin/python | grep trouble
