#!/usr/bin/env python3
"""What `keel why` says of programs in C: each pair of PAIRS has a program that gets the advice, and one
that follows it and is a single program; and what arguments and scopes are called.

Usage: tests/tensor/why.py BUILD
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from body_lines import ROOT, keel

sys.path.insert(0, str(ROOT / "tests"))
import tables  # noqa: E402

FRAME = """#include <keel/keel.h>
#include <stdio.h>
static float numbers[64];
static keel_context_t *keel;
static keel_tensor_t w, total, seen;
static keel_tensor_t loss_of(keel_tensor_t x) {
    keel_tensor_t y = keel_matmul(x, w);
    return keel_mean(keel_multiply(y, y), KEEL_AXES(0, 1));
}
static void descend(keel_tensor_t loss) {
    keel_tensor_t g;
    keel_gradients(loss, &w, 1, &g);
    keel_assign(w, keel_subtract(w, keel_multiply(g, keel_number(g, 0.01))));
}
static keel_tensor_t points(void) {
    return keel_input(keel, "points", KEEL_F32, KEEL_SHAPE(8, 4), numbers);
}
static keel_status_t begin(void) {
    keel_context_options_t options = {.mesh = KEEL_MESH({"data", 2})};
    KEEL_TRY(keel_context_create(&options, &keel));
    w = keel_variable(keel, "weight", KEEL_F32, KEEL_SHAPE(4, 4), numbers);
    total = keel_variable(keel, "total", KEEL_F32, KEEL_SHAPE(4, 4), numbers);
    seen = keel_variable(keel, "seen", KEEL_F32, KEEL_SCALAR, numbers);
    return NULL;
}
static keel_status_t take(int step) {
    (void)step;
STEP
    return keel_step_end(keel);
}
int main(void) {
    keel_status_t status = begin();
    for (int step = 0; step < 6 && !status; ++step) status = take(step);
    if (status) puts(keel_status_message(status));
    keel_context_free(keel);
    return status != NULL;
}
"""

# By advice (a cause's or a case's): a step that gets it, and one that follows it.
PAIRS = {
    "host_read": (
        """float value;
        keel_tensor_t loss = loss_of(points());
        KEEL_TRY(keel_read(loss, &value, sizeof value));
        descend(loss);""",
        """float value;
        keel_tensor_t loss = loss_of(points()), kept = keel_keep(loss);
        descend(loss);
        KEEL_TRY(keel_step_end(keel));
        if (step == 5) KEEL_TRY(keel_read(kept, &value, sizeof value));
        keel_release(kept);
        return NULL;"""),
    "shape": (
        'descend(loss_of(keel_input(keel, "points", KEEL_F32, KEEL_SHAPE(step < 4 ? 8 : 5, 4), numbers)));',
        "descend(loss_of(points()));"),
    "dtype": (
        'descend(keel_cast(loss_of(keel_input(keel, "points", step < 4 ? KEEL_F32 : KEEL_F16, KEEL_SHAPE(8, 4), '
        'numbers)), KEEL_F32));',
        "descend(loss_of(points()));"),
    "arguments": (
        """keel_tensor_t x = points();
        if (step >= 4)
            x = keel_multiply(x, keel_input(keel, "mask", KEEL_F32, KEEL_SHAPE(8, 1), numbers));
        descend(loss_of(x));""",
        """keel_tensor_t x = points();
        x = keel_multiply(x, keel_input(keel, "mask", KEEL_F32, KEEL_SHAPE(8, 1), numbers));
        descend(loss_of(x));"""),
    "constant": (
        """keel_tensor_t loss = loss_of(points());
        descend(keel_multiply(loss, step < 4 ? keel_number(loss, 2) : keel_constant(loss, 3)));""",
        """keel_tensor_t loss = loss_of(points());
        descend(keel_multiply(loss, keel_number(loss, step)));"""),
    "structure": (
        """keel_tensor_t loss = loss_of(points());
        descend(step >= 4 ? keel_multiply(loss, loss) : loss);""",
        """keel_tensor_t loss = loss_of(points()), late = keel_number(loss, step >= 4);
        late = keel_greater(late, keel_constant(loss, 0));
        descend(keel_select(late, keel_multiply(loss, loss), loss));"""),
    "size": (
        "descend(loss_of(keel_slice(points(), 0, 0, step < 4 ? 8 : 5)));",
        """keel_tensor_t row = keel_iota(keel, KEEL_I32, KEEL_SHAPE(8, 1), 0), x = points();
        row = keel_less(row, keel_number(row, step < 4 ? 8 : 5));
        descend(loss_of(keel_select(row, x, keel_constant(x, 0))));"""),
    "gradient": (
        """keel_tensor_t g;
        keel_gradients(loss_of(points()), &w, 1, &g);
        keel_assign(total, step % 3 ? keel_add(total, g) : g);""",
        """keel_tensor_t g, first;
        keel_gradients(loss_of(points()), &w, 1, &g);
        first = keel_equal(keel_number(g, step % 3), keel_constant(g, 0));
        keel_assign(total, keel_add(keel_select(first, keel_constant(g, 0), total), g));"""),
    "sharding": (
        """keel_spec_t spec = step < 4 ? KEEL_SPEC("data") : KEEL_SPEC(NULL, "data");
        descend(loss_of(keel_sharded_input(keel, "points", KEEL_F32, KEEL_SHAPE(8, 4), numbers, spec)));""",
        """keel_spec_t spec = KEEL_SPEC("data");
        descend(loss_of(keel_sharded_input(keel, "points", KEEL_F32, KEEL_SHAPE(8, 4), numbers, spec)));"""),
    "donation": (
        """keel_tensor_t sum = keel_add(total, w);
        keel_assign(step < 4 ? total : w, sum);""",
        """keel_tensor_t sum = keel_add(total, w);
        keel_assign(total, sum);
        keel_assign(w, sum);"""),
    "assigned": (
        """keel_tensor_t g;
        keel_gradients(loss_of(points()), &w, 1, &g);
        keel_assign(w, keel_subtract(w, g));
        if (step >= 4) keel_assign(total, g);""",
        """keel_tensor_t g;
        keel_gradients(loss_of(points()), &w, 1, &g);
        keel_assign(w, keel_subtract(w, g));
        keel_assign(total, g);"""),
    "rank": (
        """keel_tensor_t x = step < 4 ? points() : keel_input(keel, "points", KEEL_F32, KEEL_SHAPE(2, 4, 4), numbers);
        descend(loss_of(keel_reshape(x, KEEL_SHAPE(8, 4))));""",
        """descend(loss_of(keel_reshape(points(), KEEL_SHAPE(8, 4))));"""),
    "kept_grows": (
        """static keel_tensor_t cache;
        keel_tensor_t key = keel_slice(points(), 0, 0, 1), all = step ? keel_concatenate(cache, key, 0) : key;
        keel_tensor_t next = keel_keep(all);
        keel_assign(seen, keel_sum(all, KEEL_AXES(0, 1)));
        KEEL_TRY(keel_step_end(keel));
        if (step) keel_release(cache);
        cache = next;
        return NULL;""",
        """keel_tensor_t key = keel_slice(points(), 0, 0, 1);
        keel_tensor_t place = keel_number(keel_iota(keel, KEEL_I32, KEEL_SHAPE(1), 0), step % 4);
        keel_assign(total, keel_dynamic_update(total, 0, place, key));
        keel_assign(seen, keel_sum(total, KEEL_AXES(0, 1)));"""),
    "step_endless": (
        """static keel_tensor_t x;
        float value;
        x = step ? x : points();
        for (int i = 0; i <= step; ++i) x = keel_tanh(x);
        KEEL_TRY(keel_read(keel_sum(x, KEEL_AXES(0, 1)), &value, sizeof value));
        return NULL;""",
        """float value;
        keel_assign(w, keel_tanh(w));
        KEEL_TRY(keel_step_end(keel));
        if (step == 5) KEEL_TRY(keel_read(seen, &value, sizeof value));
        return NULL;"""),
}

# Those that no program in C gets: the front end has no such thing, or the cause is of whole runs.
NEVER = {
    "weak_type": "numbers of C have the dtype of a tensor",
    "nested_jit": "bodies are not functions of the program's",
    "layout": "data of C is row-major",
    "precision": "no operation takes a precision",
    "option": "the options of a context are its mesh and devices",
    "retrace": "a context forgets its programs when it is freed, and Keel loads them for the next one",
}

# By what is shown: a step whose third time has it.
NAMES = {
    "seen  absent -> f32[]": """keel_tensor_t sum = keel_sum(w, KEEL_AXES(0, 1));
        keel_assign(w, keel_add(w, sum));
        if (step == 2) keel_assign(seen, sum);""",
    "kept at name_1.c:30  absent -> f32[]": """keel_tensor_t sum = keel_sum(w, KEEL_AXES(0, 1));
        keel_assign(w, keel_add(w, sum));
        if (step == 2) keel_keep(sum);""",
    "mask  absent -> f32[8,1]": """keel_tensor_t x = points();
        if (step == 2) x = keel_multiply(x, keel_input(keel, "mask", KEEL_F32, KEEL_SHAPE(8, 1), numbers));
        descend(loss_of(x));""",
    "total  absent -> f32[4,4]": """keel_tensor_t x = points();
        if (step == 2) x = keel_matmul(x, total);
        descend(loss_of(x));""",
    "points  f32[8,4] -> f32[5,4]": """
        keel_tensor_t one = keel_input(keel, "other", KEEL_F32, KEEL_SHAPE(8, 4), numbers);
        keel_tensor_t two = keel_input(keel, "points", KEEL_F32, KEEL_SHAPE(step == 2 ? 5 : 8, 4), numbers);
        descend(keel_add(loss_of(one), loss_of(two)));""",
    # Another number is no other argument, however many there are.
    "multiply  an argument -> 3": """keel_tensor_t loss = loss_of(points());
        double rate = 0.5, decay = 0.1;
        loss = keel_multiply(loss, step == 2 ? keel_constant(loss, 3) : keel_number(loss, rate));
        descend(keel_add(loss, keel_number(loss, decay)));""",
    "nothing -> multiply": """keel_tensor_t loss = loss_of(points());
        double rate = 0.5;
        if (step == 2) loss = keel_multiply(loss, keel_number(loss, rate));
        descend(loss);""",
    ", in scope model/block 2": """keel_tensor_t h = points();
        keel_scope_begin(keel, "model");
        for (int i = 0; i < 3; ++i) {
            char name[32];
            snprintf(name, sizeof name, "block %d", i);
            keel_scope_begin(keel, name);
            h = keel_multiply(h, keel_constant(h, i == 2 && step == 2 ? 3 : 0.5));
            keel_scope_end(keel);
        }
        keel_scope_end(keel);
        descend(loss_of(h));""",
}


def run(build, work, name, code):
    """The items of `keel why --json` on a program of the step's code, and its programs."""
    (work / f"{name}.c").write_text(FRAME.replace("STEP", code))
    subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-Wno-unused-function", f"-I{ROOT}/include", f"{name}.c", f"-L{build}/lib",
                    "-lkeel", "-o", name], check=True, cwd=work)
    said = keel(build, work, "run", "--mode", "refresh", "--", f"./{name}")
    return json.loads(keel(build, work, "why", "--json")), said


def check_key(build, work):
    """Names are not part of a key: renamed arguments, numbers and scopes are the same program."""
    code = """keel_tensor_t x = keel_input(keel, "NAME", KEEL_F32, KEEL_SHAPE(8, 4), numbers);
        double NAME = 1;
        keel_scope_begin(keel, "NAME");
        keel_assign(keel_variable(keel, "NAME", KEEL_F32, KEEL_SCALAR, NULL), keel_number(x, NAME));
        descend(keel_multiply(loss_of(x), keel_number(x, NAME)));"""
    run(build, work, "one", code.replace("NAME", "one"))
    run(build, work, "other", code.replace("NAME", "other"))
    said = keel(build, work, "run", "--", "./one")
    return [] if "6 steps, 1 program; nothing compiled" in said else [f"another name is another key:\n{said}"]


def check_contract(build, work):
    """A contract lists arguments by their names."""
    run(build, work, "mask", PAIRS["arguments"][0])
    keel(build, work, "contract", "record", "-o", "contract", "--", "./mask")
    listed = (work / "contract").read_text()
    names = [name for name in ("weight", "points", "mask", "keel_number(0.01)") if f"takes {name} f32" not in listed]
    return [f"a contract without {names}:\n{listed}"] if names else []


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    advice = tables.advice("c")
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for cause, (accident, mended) in PAIRS.items():
            items, said = run(build, work, f"{cause}_accident", accident)
            found = {item["advice"].get("c") for item in items}
            if cause != "arguments":
                found.discard(advice["arguments"])  # the first step has no cache yet
            if found != {advice[cause]}:
                bad.append(f"{cause}: {found}\n{said}{keel(build, work, 'why')}")
            items, said = run(build, work, f"{cause}_mended", mended)
            if items or "6 steps, 1 program;" not in said:
                bad.append(f"{cause}, mended: {items}\n{said}")
        for number, (shown, code) in enumerate(NAMES.items()):
            run(build, work, f"name_{number}", code)
            said = keel(build, work, "why")
            if shown not in said or re.search(r"\b(argument|result) \d", said):
                bad.append(f"without {shown}:\n{said}")
        bad += check_key(build, work) + check_contract(build, work)
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
