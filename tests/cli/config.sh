# Each value, and where it came from; flag over environment over file over default.
echo '# mine
mode = readonly
cache_limit = 1G   # small
custom_calls = my_target, other' >mine
KEEL_CONFIG=mine KEEL_CACHE_DIR='~/cache' KEEL_PLUGIN=cpu keel config --mode refresh
KEEL_CONFIG=mine KEEL_CACHE_DIR=cache keel config --json --plugin=/p.so |
    python3 -c '
import json, sys
for name, value in json.load(sys.stdin).items():
    print(name, value)'
mkdir -p .config/keel && echo 'cache_dir = ~/elsewhere' >.config/keel/config
keel config | grep cache_dir
echo 'cachedir = /x' >bad
KEEL_CONFIG=bad keel config; echo "exit $?"
KEEL_CONFIG=none keel config; echo "exit $?"
mkfifo pipe && KEEL_CONFIG=pipe timeout 20 keel config; echo "exit $?"
KEEL_MODE=sometimes keel config; echo "exit $?"
keel config --cache-limit=much; echo "exit $?"
KEEL_STACK=no keel config; echo "exit $?"
KEEL_CLIENT_CACHE=on keel config; echo "exit $?"
KEEL_JAX_CPU=jax keel config; echo "exit $?"
KEEL_WRITES=none keel config; echo "exit $?"
KEEL_CACHE_DIR=gs://bucket/keel keel config; echo "exit $?"
KEEL_CACHE_DIR=s3://bucket/keel keel cache ls; echo "exit $?"
# What a file holds does not act on the terminal.
printf 'mode = \x1b]0;title\x07on\n' >bad
KEEL_CONFIG=bad keel config; echo "exit $?"
printf 'mo\x1b[2Jde = on\n' >bad
KEEL_CONFIG=bad keel config; echo "exit $?"
printf '\x1b[2J\n' >bad
KEEL_CONFIG=bad keel config; echo "exit $?"
printf 'cache_dir = gs://\x1b[2J\n' >bad
KEEL_CONFIG=bad keel config; echo "exit $?"
printf 'cache_dir = /tmp/\x1b[2J\n' >bad
KEEL_CONFIG=bad keel config | grep cache_dir
keel config --cache-limit="$(printf '1\x7f')"; echo "exit $?"
# Names that could not be meant.
for names in a,,b a, ,a 'a b' ' ' 'a, b c'; do
    KEEL_CUSTOM_CALLS=$names keel config; echo "exit $?"
done
keel config --custom-calls 'a , b' | grep -c custom_calls
# Of two lines with one key the later wins.
printf 'mode = off\nmode = on\n' >twice
KEEL_CONFIG=twice keel config | grep '^mode'
# Sets of flags by name.
printf 'profile.fast = --xla_a=1 --xla_b\nprofile.slow = --xla_a=0\nprofile = fast\n' >mine
KEEL_CONFIG=mine keel config | grep profile
KEEL_CONFIG=mine keel config --profile slow | grep profile
KEEL_CONFIG=mine keel config --profile missing; echo "exit $?"
keel config --profile fast; echo "exit $?"
for line in 'profile. = --xla_a=1' 'profile.none = --xla_a=1' 'profile.a b = --xla_a=1' 'profile.a = fast' 'profile.a ='; do
    echo "$line" >bad
    KEEL_CONFIG=bad keel config; echo "exit $?"
done
