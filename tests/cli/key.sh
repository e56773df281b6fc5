# What a key is made of; and whether two programs share one.
cd "$samples" || exit
export KEEL_CACHE_DIR=$HOME/cache
keel key mlir/donate.mlir
keel key mlir/donate.mlir --options opts/jax_spmd_4.opts | grep -c ' -  '
keel key mlir/donate.mlir mlir/donate.mlir | tail -2; echo "exit ${PIPESTATUS[0]}"
keel key mlir/donate.mlir mlir/dtypes.mlir | grep differ; echo "exit ${PIPESTATUS[0]}"
keel key hlo/linear_step.hlo hlo/linear_step_nodebug.hlo | tail -2; echo "exit ${PIPESTATUS[0]}"
keel key --options opts/jax_spmd_4.opts mlir/donate.mlir - <mlir/donate.mlir | tail -1
uncacheable=mlir/custom_partitioning.mlir
keel key $uncacheable $uncacheable | tail -2; echo "exit ${PIPESTATUS[0]}"
keel key $uncacheable mlir/donate.mlir | tail -3; echo "exit ${PIPESTATUS[0]}"
keel key --json mlir/donate.mlir mlir/dtypes.mlir | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["same"], answer["differ"], answer["a"]["name"], answer["b"]["name"])'
keel key --json mlir/custom_partitioning.mlir | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["cacheable"], answer["reason"], answer["components"]["compile options"])'
keel key mlir/donate.mlir --options mlir/donate.mlir; echo "exit $?"
keel key mlir/donate.mlir --options nothing; echo "exit $?"
keel key opts/jax_spmd_4.opts; echo "exit $?"
keel key mlir/donate.mlir none.mlir; echo "exit $?"
echo 'HloModule jit_f' >"$HOME/text"
keel key "$HOME/text"; echo "exit $?"
keel key mlir/donate.mlir - </dev/null; echo "exit $?"

# Two programs are compared by the digests that each has alone; a plugin counts by its content.
digest_of() { # of the program
    keel key "$1" | awk '$1 == "program" { print $2 }'
}
echo "  program           $(digest_of mlir/donate.mlir)  differs from  $(digest_of mlir/dtypes.mlir)" \
    >"$HOME/expected"
keel key mlir/donate.mlir mlir/dtypes.mlir | grep '^  program' | diff "$HOME/expected" - && echo compared
build_of() { # a plugin of that content
    printf "$1" >"$HOME/$2.so"
    keel key --plugin "$HOME/$2.so" mlir/donate.mlir | awk '/^  plugin build/ { print $3, $4 }'
}
test -n "$(build_of one a)" && echo built
test "$(build_of one a)" = "$(build_of one b)" && echo same
test "$(build_of one a)" = "$(build_of two a)" || echo other
keel key --plugin "$HOME/none.so" mlir/donate.mlir; echo "exit $?"
