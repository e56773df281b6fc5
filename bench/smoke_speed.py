#!/usr/bin/env python3
"""What `keel smoke` takes as a rehearsal, beside what JAX alone needs to start and trace the same program.
Prints a section of Markdown.

Usage: .venv/bin/python bench/smoke_speed.py [--layers 24] [--steps 20] [--on cpu:1]
                                             [--repeats 5] [--most RATIO] [--json]

`keel smoke --on TARGET` of examples/jax/train_gpt.py rehearses it twice, both at once, and compares what the
two asked for. JAX alone (lower_gpt.py) starts once, makes the same batches and lowers the same large
programs; it executes nothing. The two take turns, as in rehearse_speed.py.

On a machine of two cores that does nothing else, the clock counts: it is what a person waits. Processor time
is that of both rehearsals. With --most, a larger ratio on the clock is exit code 1.
"""

import json
import sys
import tempfile

from rehearse_speed import TRACE, measure, ratio, read_options, table
from warm_start import KEEL, PYTHON, SCRIPT


def commands(options, folder):
    words = ["--layers", str(options.layers), "--steps", str(options.steps)]
    own = tempfile.mkdtemp(dir=folder)
    return {
        "jax": ([PYTHON, TRACE, *words], {"JAX_PLATFORMS": "cpu"}),
        "keel": ([KEEL, "smoke", "--on", options.on, "--", PYTHON, SCRIPT, *words], {"TMPDIR": own}),
    }


def section(options, result):
    print("## Smoke test\n")
    command = " ".join([".venv/bin/python bench/smoke_speed.py", *sys.argv[1:]])
    print(f"Command: `{command}`. `keel smoke --on {result['target']}` of `{SCRIPT} --layers {result['layers']} "
          f"--steps {result['steps']}`, two rehearsals at once, beside a JAX process that starts and lowers the "
          f"same programs once and executes nothing; medians of {options.repeats} runs that take turns, and "
          "their range.\n")
    table("Keel smoke", (("on the clock", result["clock"]), ("processor time", result["processors"])))


def main():
    options = read_options(__doc__, 20)
    result = measure(options, commands)
    if options.json:
        print(json.dumps({"smoke": result}, indent=2))
    else:
        section(options, result)
    if options.most and ratio(result["clock"]) > options.most:
        sys.exit(f"smoke_speed: {ratio(result['clock']):.2f} times as long as JAX")


if __name__ == "__main__":
    main()
