# Why one program is not another: the causes with their lines, and nothing where nothing differs.
cd "$samples/diff" || exit
keel diff step.mlir step.mlir; echo "exit $?"
keel diff step.mlir step_moved.mlir; echo "exit $?"
keel diff step.mlir step_batch.mlir; echo "exit $?"
keel diff step.mlir step_constant.mlir; echo "exit $?"
keel diff step.mlir step_both.mlir; echo "exit $?"
keel diff step.mlir ../mlir/linalg.mlir; echo "exit $?"
keel diff ../hlo/linear_step.hlo ../hlo/linear_step_nodebug.hlo; echo "exit $?"
keel diff --all step.mlir step_batch.mlir | tail -n +4
keel diff --json step.mlir step_batch.mlir | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["same"], answer["unrelated"], answer["a"]["name"], answer["b"]["file"])
root = answer["roots"][0]
print(answer["root_total"], root["kind"], root["subject"], root["old"], root["new"], root["line"])
print(root["folds"] <= answer["folded_total"], all(f["follows"] < 2 for f in answer["folded"]))'
keel diff --json step.mlir step.mlir | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["same"], answer["roots"], answer["folded_total"])'
echo "-- options"
keel diff step.mlir step.mlir --options-a ../opts/jax_spmd_4.opts --options-b ../opts/jax_spmd_4.opts
echo "exit $?"
keel diff step.mlir step.mlir --options-a ../opts/jax_spmd_4.opts \
  --options-b ../opts/jax_compiler_options.opts
echo "exit $?"
keel diff step.mlir step.mlir --options-a ../opts/jax_spmd_4.opts; echo "exit $?"
keel diff step.mlir step.mlir --options-a step.mlir --options-b step.mlir; echo "exit $?"
echo "-- bad input"
keel diff step.mlir; echo "exit $?"
keel diff step.mlir none.mlir; echo "exit $?"
keel diff ../opts/torch_4.opts step.mlir; echo "exit $?"
keel diff step.mlir - </dev/null; echo "exit $?"
echo "-- copies"
cd "$OLDPWD" || exit
mkdir -p copies/programs
cp "$samples/diff/step.mlir" copies/step.mlir
cp "$samples/diff/step.mlir" "copies/$(printf '%064d' 7).mlir"
cp "$samples/diff/step.mlir" "copies/programs/$(printf '%064d' 7).mlir.zst"
keel diff copies/step.mlir "$samples/diff/step.mlir"; echo "exit $?"
keel diff copies/step.mlir "copies/$(printf '%064d' 7).mlir"; echo "exit $?"
keel diff --run-dir copies 0000000 copies/step.mlir; echo "exit $?"
keel show --run-dir copies 0000000; echo "exit $?"
keel key --run-dir copies 0000000; echo "exit $?"
