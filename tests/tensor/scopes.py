#!/usr/bin/env python3
"""Named scopes: each operation has its own in the program that Keel reads back, a gradient's too, and
`keel why` names the scopes around the line of the operation.

Usage: tests/tensor/scopes.py BUILD
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from body_lines import ROOT, keel

CODE = """#include <keel/keel.h>
#include <stdio.h>
static keel_tensor_t layer(keel_tensor_t x, double factor) {
    return keel_multiply(keel_tanh(x), keel_constant(x, factor)); // line 4
}
int main(void) {
    keel_context_t *keel;
    float one = 1;
    if (keel_context_create(NULL, &keel)) return 1;
    keel_tensor_t w = keel_variable(keel, "w", KEEL_F32, KEEL_SCALAR, &one), g;
    keel_status_t status = NULL;
    for (int step = 0; step < 2 && !status; ++step) {
        keel_tensor_t h = w;
        keel_scope_begin(keel, "model");
        for (int i = 0; i < 2; ++i) {
            char name[32];
            snprintf(name, sizeof name, "block %d", i);
            keel_scope_begin(keel, name); // line 18
            h = layer(h, i ? 3 + step : 0.5);
            keel_scope_end(keel);
        }
        keel_scope_end(keel);
        keel_gradients(h, &w, 1, &g);
        keel_assign(w, keel_subtract(w, keel_multiply(g, h))); // line 24
        status = keel_step_end(keel);
    }
    keel_context_free(keel);
    return status != NULL;
}
"""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "scopes.c").write_text(CODE)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", f"-I{ROOT}/include", "scopes.c", f"-L{build}/lib",
                        "-lkeel", "-o", "scopes"], check=True, cwd=work)
        keel(build, work, "run", "--", "./scopes")
        why = keel(build, work, "why", "latest")
        assert "scopes.c:4  multiply  3 -> 4" in why and "called at scopes.c:25, in scope model/block 1" in why, why
        item, = json.loads(keel(build, work, "why", "--json"))
        assert item["scope"] == "model/block 1", item
        programs = [json.loads(keel(build, work, "show", "--json", str(path)))
                    for path in (work / "runs" / "programs").iterdir() if "options" not in path.name]
        operations = [o for program in programs for o in program["functions"][0]["operations"]]
        places = {(o["name"], o.get("location_name"), tuple((l["line"], l["name"]) for l in o["locations"]))
                  for o in operations if o.get("locations")}
        for block in range(2):
            around = ((4, "layer"), (18, f"block {block}"), (14, "model"))
            for name in ("tanh", "multiply", "subtract"):  # the last is of the gradient alone
                assert (name, f"model/block {block}/{name}", around) in places, sorted(places)
        assert ("subtract", "subtract", ((24, "main"),)) in places, sorted(places)


if __name__ == "__main__":
    main()
