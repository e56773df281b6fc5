#!/usr/bin/env python3
"""What Keel's own reader makes of programs with bodies: it reads them, and `keel why` and `keel show`
name lines in them.

Usage: tests/tensor/body_lines.py BUILD
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = """#include <keel/keel.h>
#include <stdio.h>
static double factor;
static void step(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_sin(in[0]);
    out[0] = keel_multiply(out[0],
                           keel_constant(out[0], factor)); // line 8
}
static void branch(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    keel_scan_t scan = {.carry = user, .carry_count = 1, .length = 4};
    (void)in;
    keel_scan(((keel_tensor_t *)user)->context, step, NULL, &scan, out); // line 13
}
static int below(keel_context_t *keel, keel_tensor_t x) {
    keel_tensor_t y, g;
    keel_cond(keel_less(x, keel_number(x, 9)), branch, branch, &x, 1, &y);
    keel_gradients(y, &x, 1, &g);
    keel_assign(x, keel_add(y, g));
    keel_status_t status = keel_step_end(keel);
    if (status) puts(keel_status_message(status));
    keel_status_ignore(status);
    return !status;
}
int main(void) {
    keel_context_t *keel;
    float one = 1;
    if (keel_context_create(NULL, &keel)) return 1;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &one);
    int good = 1;
    for (factor = 1; factor < 3; ++factor) good &= below(keel, x);
    keel_context_free(keel);
    return !good;
}
"""


def keel(build, work, *arguments):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(build / "lib"), KEEL_CONFIG="/dev/null",
                       KEEL_CACHE_DIR=str(work / "cache"), KEEL_RUN_DIR=str(work / "runs"),
                       VIRTUAL_ENV=str(ROOT / ".venv"))
    said = subprocess.run([build / "bin" / "keel", *arguments], env=environment, capture_output=True, text=True,
                          timeout=600, cwd=work)
    if said.returncode:
        sys.exit(f"keel {arguments}: exit {said.returncode}\n{said.stdout}{said.stderr}")
    return said.stdout + said.stderr


def expect(text, *parts):
    missing = [part for part in parts if part not in text]
    if missing:
        sys.exit(f"without {missing}:\n{text}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "loop.c").write_text(CODE)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", "loop.c",
                        f"-L{build}/lib", "-lkeel", "-o", "loop"], check=True, cwd=work)
        expect(keel(build, work, "run", "--", "./loop"), "2 steps, 2 programs")
        expect(keel(build, work, "why"), "loop.c:8", "constant", "1 -> 2")
        digest = re.search(r"\b[0-9a-f]{12}\b", keel(build, work, "stats"))[0]
        expect(keel(build, work, "show", "--locations", digest), "while", "conditional", "get-tuple-element",
               "dynamic-update-slice", "loop.c:6", "loop.c:8", "loop.c:13")


if __name__ == "__main__":
    main()
