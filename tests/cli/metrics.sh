# The figures of a run by the names that PyTorch/XLA and Prometheus know.
export KEEL_RUN_DIR=$runs
keel stats --metrics 20260101
echo
keel stats --prometheus 20260101 | grep -v '^#'
keel stats --metrics --json 20260101 | python3 -c '
import json, sys
figures = json.load(sys.stdin)
print(figures["run"], "pid" in figures, figures["torch_xla"]["CompileTime"])'
keel stats --metrics --prometheus; echo "exit $?"
keel stats --prometheus --json; echo "exit $?"
keel stats --prometheus 1999; echo "exit $?"
