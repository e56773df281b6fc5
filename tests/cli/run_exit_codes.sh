# The child's exit code is its own; what cannot be run has a shell's codes; no run, no summary.
export KEEL_CACHE_DIR=$HOME/cache KEEL_RUN_DIR=$HOME/runs
keel run --quiet -- sh -c 'exit 7'; echo "exit $?"
keel run --quiet -- true; echo "exit $?"
keel run --quiet sh -c 'echo out; echo err >&2; exit 3'; echo "exit $?"
keel run --quiet -- sh -c 'kill -TERM $$'; echo "exit $?"
keel run --quiet -- sh -c 'kill -KILL $$'; echo "exit $?"
keel run -- no-such-command; echo "exit $?"
keel run -- ./no-such-file; echo "exit $?"
touch plain && keel run -- ./plain; echo "exit $?"
printf '#!/no/such/interpreter\n' >script && chmod +x script
keel run -- ./script; echo "exit $?"
keel run -- "$HOME"; echo "exit $?"
keel run --quiet -- sh -c 'exit 127'; echo "exit $?"
keel run -- true; echo "exit $?"
keel run --mode off -- true; echo "exit $?"
KEEL_QUIET=1 keel run -- true; echo "exit $?"
echo input | keel run --quiet -- cat; echo "exit $?"
test ! -e cache && test ! -e runs && echo "nothing was made"
