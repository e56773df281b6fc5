// What the arguments, results and meshes of two programs differ in: small pairs at the limits of
// each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void shapes_that_changed_alike_are_one_cause(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[8] y: f32[8,8] z: f32[3]\n"
                 "return x",
                 "x: f32[4] y: f32[4,8] z: f32[3]\n"
                 "return x",
                 "shape x: f32[8] -> f32[4] +1 (and 1 more argument)", NULL},
                {"x: f32[8] y: f32[8,8]\n"
                 "return x",
                 "x: f32[4] y: f32[4,4]\n"
                 "return x",
                 "shape x: f32[8] -> f32[4] +1 (and 1 more argument)", NULL},
                // One of several sizes changed: they are not the same change.
                {"x: f32[8,6] y: f32[8,6]\n"
                 "return x",
                 "x: f32[4,6] y: f32[4,3]\n"
                 "return x",
                 "shape y: f32[8,6] -> f32[4,3] +1 (and 1 more argument)", NULL},
                {"x: f32[8] y: f32[8] z: f32[8]\n"
                 "return x",
                 "x: f32[8,1] y: f32[8,1] z: f32[8,1,1]\n"
                 "return x",
                 "shape x: f32[8] -> f32[8,1] +1 (and 1 more argument)\n"
                 "shape z: f32[8] -> f32[8,1,1]",
                 NULL},
                {"x: f32[] y: f32[0]\n"
                 "return x",
                 "x: f32[0] y: f32[]\n"
                 "return x",
                 "shape x: f32[] -> f32[0]\n"
                 "shape y: f32[0] -> f32[]",
                 NULL});
}

static void dtypes_that_changed_are_one_cause_and_lead_before_numbers(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[] y: f32[4] z: i32[4]\n"
                 "return x",
                 "x: f16[] y: f16[4] z: i64[4]\n"
                 "return x",
                 "dtype y: f32[4] -> f16[4] +2 (and 2 more arguments)", NULL},
                {"x: f32[8]\n"
                 "return x",
                 "x: f16[4]\n"
                 "return x",
                 "shape x: f32[8] -> f16[4]\n"
                 "dtype x: f32[8] -> f16[4]",
                 NULL},
                {"x: bf16[2] y: c64[2] z: i1[2] w: u8[2]\n"
                 "return x",
                 "x: f64[2] y: c128[2] z: i8[2] w: i8[2]\n"
                 "return x",
                 "dtype x: bf16[2] -> f64[2] +3 (and 3 more arguments)", NULL},
                {"x: token y: f32[2,?]\n"
                 "return x",
                 "x: f32[2] y: f32[?,2]\n"
                 "return x",
                 "shape x: !token -> f32[2]\n"
                 "shape y: f32[2,?] -> f32[?,2]\n"
                 "dtype x: !token -> f32[2]",
                 NULL});
}

static void a_key_of_another_generator_is_an_option(void **state) {
    (void)state;
    CHECK_PAIRS({"key: u32[2]\n"
                 "return key",
                 "key: u32[4]\n"
                 "return key",
                 "option key: threefry2x32 -> rbg (random numbers come from a different generator)",
                 NULL},
                {"key: u32[5,2] k: u32[2]\n"
                 "return key",
                 "key: u32[5,4] k: u32[4]\n"
                 "return key",
                 "option key: threefry2x32 -> rbg +1 (random numbers come from a different "
                 "generator; and 1 more argument)",
                 NULL},
                // Another number of keys at once, or no key at all.
                {"key: u32[5,2]\n"
                 "return key",
                 "key: u32[6,4]\n"
                 "return key",
                 "shape key: u32[5,2] -> u32[6,4]", NULL},
                {"key: u32[2]\n"
                 "return key",
                 "key: u32[3]\n"
                 "return key",
                 "shape key: u32[2] -> u32[3]", NULL},
                {"key: u32[2]\n"
                 "return key",
                 "key: u32[1,4]\n"
                 "return key",
                 "shape key: u32[2] -> u32[1,4]", NULL},
                {"key: i32[2]\n"
                 "return key",
                 "key: i32[4]\n"
                 "return key",
                 "shape key: i32[2] -> i32[4]", NULL});
}

static void arguments_are_paired_by_name_then_by_place(void **state) {
    (void)state;
    CHECK_PAIRS({"a: f32[2] b: f32[3]\n"
                 "return a",
                 "b: f32[3] a: f32[2]\n"
                 "return a",
                 "arguments arguments: a, b -> b, a (the same arguments in a different order)",
                 NULL},
                // One that was renamed keeps its type.
                {"a: f32[2] b: f32[3]\n"
                 "return a",
                 "a: f16[2] c: f32[3]\n"
                 "return a",
                 "dtype a: f32[2] -> f16[2]", NULL},
                {"a: f32[2] b: f32[3]\n"
                 "return a",
                 "a: f32[2] c: f32[4]\n"
                 "return a",
                 "arguments c: absent -> f32[4] (it is None or left out in one of the two calls)\n"
                 "arguments b: f32[3] -> absent (it is None or left out in one of the two calls)",
                 "arguments b: absent -> f32[3] (it is None or left out in one of the two calls)\n"
                 "arguments c: f32[4] -> absent (it is None or left out in one of the two calls)"},
                // Two keys of one dict are two values; two items of a list are not.
                {"x: f32[] d['a']: f32[2]\n"
                 "return x",
                 "x: f16[] d['b']: f32[2]\n"
                 "return x",
                 "dtype x: f32[] -> f16[]\n"
                 "arguments d['b']: absent -> f32[2]\n"
                 "arguments d['a']: f32[2] -> absent",
                 "dtype x: f16[] -> f32[]\n"
                 "arguments d['a']: absent -> f32[2]\n"
                 "arguments d['b']: f32[2] -> absent"},
                {"x: f32[] d[0]: f32[2]\n"
                 "return x",
                 "x: f16[] d[1]: f32[2]\n"
                 "return x",
                 "dtype x: f32[] -> f16[]", NULL},
                {"x: f32[] d.a: f32[2]\n"
                 "return x",
                 "x: f16[] d.b: f32[2]\n"
                 "return x",
                 "dtype x: f32[] -> f16[]", NULL},
                // Without names: by place if there are as many, otherwise the next one of the type.
                {"_a: f32[2] _b: f32[3]\n"
                 "return _a",
                 "_a: f32[4] _b: f32[3]\n"
                 "return _a",
                 "shape argument 0: f32[2] -> f32[4]", NULL},
                {"_a: f32[2] _b: f32[3] _c: f32[4]\n"
                 "return _c",
                 "_b: f32[3] _c: f32[4]\n"
                 "return _c",
                 "arguments argument 0: f32[2] -> absent", NULL},
                {"_a: f32[2] b: f32[3]\n"
                 "return _a",
                 "_a: f32[5] _c: f32[2] b: f32[3]\n"
                 "return _a",
                 "arguments argument 0: absent -> f32[5]", NULL},
                {"_a: f32[2] _b: f32[2] _c: f32[3]\n"
                 "return _a",
                 "_a: f32[2] _c: f32[3]\n"
                 "return _a",
                 "arguments argument 1: f32[2] -> absent", NULL},
                {"x: f32[] _a: f32[2]\n"
                 "return x",
                 "x: f16[] a: f32[2]\n"
                 "return x",
                 "dtype x: f32[] -> f16[]", NULL});
}

static void arguments_that_come_together_are_one_cause(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[2]\n"
         "return x",
         "x: f32[2] batch['mask']: f32[3] batch['weight']: f32[4]\n"
         "return x",
         "arguments batch['mask']: absent -> f32[3] +1 (it is None or left out in one of the two "
         "calls; and 1 more argument)",
         NULL},
        {"x: f32[2] batch['x']: f32[3]\n"
         "return x",
         "x: f32[2] batch['x']: f32[3] batch['mask']: f32[3] batch['weight']: f32[4]\n"
         "return x",
         "arguments batch['mask']: absent -> f32[3] +1 (and 1 more argument)", NULL},
        {"x: f32[2]\n"
         "return x",
         "x: f32[2] mask: f32[3] weight: f32[4]\n"
         "return x",
         "arguments mask: absent -> f32[3] (it is None or left out in one of the two calls)\n"
         "arguments weight: absent -> f32[4] (it is None or left out in one of the two calls)",
         NULL},
        // The items of one list, in whichever tree it is.
        {"p['l'][0]['w']: f32[2] m['l'][0]['w']: f32[2]\n"
         "return p['l'][0]['w']",
         "p['l'][0]['w']: f32[2] p['l'][1]['w']: f32[2] p['l'][1]['b']: f32[] m['l'][0]['w']: "
         "f32[2] m['l'][1]['w']: f32[2]\n"
         "return p['l'][0]['w']",
         "arguments p['l'][1]['w']: absent -> f32[2] +2 (and 2 more arguments)", NULL},
        // The same place of parallel trees, of one type.
        {"p['w']: f32[2] m['w']: f32[2]\n"
         "return p['w']",
         "p['w']: f32[2] m['w']: f32[2] p['s']: f32[3] m['s']: f32[3]\n"
         "return p['w']",
         "arguments p['s']: absent -> f32[3] +1 (and 1 more argument)", NULL},
        {"p['w']: f32[2] m['w']: f32[2]\n"
         "return p['w']",
         "p['w']: f32[2] m['w']: f32[2] p['s']: f32[3] m['s']: f32[4]\n"
         "return p['w']",
         "arguments p['s']: absent -> f32[3]\n"
         "arguments m['s']: absent -> f32[4]",
         NULL},
        {"p['w']: f32[2] m['w']: f32[2]\n"
         "return p['w']",
         "p['w']: f32[2] m['w']: f32[2] p['s']: f32[3] m['t']: f32[3]\n"
         "return p['w']",
         "arguments p['s']: absent -> f32[3]\n"
         "arguments m['t']: absent -> f32[3]",
         NULL},
        {"p[0]: f32[2] m[0]: f32[2]\n"
         "return p[0]",
         "p[0]: f32[2] m[0]: f32[2] p[1]: f32[3] m[1]: f32[3]\n"
         "return p[0]",
         "arguments p[1]: absent -> f32[3]\n"
         "arguments m[1]: absent -> f32[3]",
         NULL},
        {"p.w: f32[2]\n"
         "return p.w",
         "p.w: f32[2] p.a: f32[3] p.b.c: f32[4] p.b.d: f32[5]\n"
         "return p.w",
         "arguments p.a: absent -> f32[3] +2 (it is None or left out in one of the two calls; and "
         "2 more arguments)",
         NULL},
        {"p['w']: f32[2]\n"
         "return p['w']",
         "p['w']: f32[2] q['a']: f32[3] q['b']['c']: f32[4] r['a']: f32[5]\n"
         "return p['w']",
         "arguments q['a']: absent -> f32[3] +1 (it is None or left out in one of the two calls; "
         "and 1 more argument)\n"
         "arguments r['a']: absent -> f32[5] (it is None or left out in one of the two calls)",
         NULL},
        {"x: f32[2] a: f32[3]\n"
         "return x",
         "x: f32[2] b: f32[4]\n"
         "return x",
         "arguments b: absent -> f32[4] (it is None or left out in one of the two calls)\n"
         "arguments a: f32[3] -> absent (it is None or left out in one of the two calls)",
         "arguments a: absent -> f32[3] (it is None or left out in one of the two calls)\n"
         "arguments b: f32[4] -> absent (it is None or left out in one of the two calls)"},
        {"x: f32[2] a[0]: f32[3] a[1]: f32[3]\n"
         "return x",
         "x: f32[2]\n"
         "return x",
         "arguments a[0]: f32[3] -> absent +1 (it is None or left out in one of the two calls; and "
         "1 more argument)",
         NULL});
}

static void lists_are_paired_by_what_they_hold(void **state) {
    (void)state;
    CHECK_PAIRS(
        // The first was taken out, or came; the others are where they were.
        {"w[0]: f32[8,16] w[1]: f32[16,12] w[2]: f32[12,4]\n"
         "return w[2]",
         "w[0]: f32[16,12] w[1]: f32[12,4]\n"
         "return w[1]",
         "arguments w[0]: f32[8,16] -> absent", NULL},
        // One in the middle, with several leaves.
        {"l[0].a: f32[2] l[0].b: f32[3] l[1].a: f32[4] l[1].b: f32[5] l[2].a: f32[6] l[2].b: "
         "f32[7]\n"
         "return l[2].a",
         "l[0].a: f32[2] l[0].b: f32[3] l[1].a: f32[6] l[1].b: f32[7]\n"
         "return l[1].a",
         "arguments l[1].a: f32[4] -> absent +1 (and 1 more argument)", NULL},
        // What is longer at its end, or holds other things, is paired by index.
        {"w[0]: f32[2] w[1]: f32[3]\n"
         "return w[0]",
         "w[0]: f32[5] w[1]: f32[3] w[2]: f32[7]\n"
         "return w[0]",
         "shape w[0]: f32[2] -> f32[5]\n"
         "arguments w[2]: absent -> f32[7]",
         NULL});
}

static void arguments_that_moved_keep_type_and_last_step(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[2] p['a']['w']: f32[3] p['b']['w']: f32[3]\n"
         "return x",
         "x: f16[2] q['b']['w']: f32[3] q['a']['w']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments q['b']['w']: absent -> f32[3] +3 (an array moved to another place among the "
         "arguments: p['b']['w'] -> q['b']['w']; and 1 more argument)",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments p['a']['w']: absent -> f32[3] +3 (an array moved to another place among the "
         "arguments: q['a']['w'] -> p['a']['w']; and 1 more argument)"},
        {"x: f32[2] trained['a']['w']: f32[3]\n"
         "return x",
         "x: f16[2] frozen['a']['w']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments frozen['a']['w']: absent -> f32[3] +1 (an array moved to another place among "
         "the arguments: trained['a']['w'] -> frozen['a']['w'])",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments trained['a']['w']: absent -> f32[3] +1 (an array moved to another place among "
         "the arguments: frozen['a']['w'] -> trained['a']['w'])"},
        {"x: f32[2] trained['a']['w']: f32[3] trained['b']['w']: f32[3]\n"
         "return x",
         "x: f16[2] trained['a']['w']: f32[3] frozen['b']['w']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments frozen['b']['w']: absent -> f32[3] +1 (an array moved to another place among "
         "the arguments: trained['b']['w'] -> frozen['b']['w'])",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments trained['b']['w']: absent -> f32[3] +1 (an array moved to another place among "
         "the arguments: frozen['b']['w'] -> trained['b']['w'])"},
        {"x: f32[2] trained['a']['w']: f32[3]\n"
         "return x",
         "x: f16[2] frozen['a']['w']: f32[4]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments frozen['a']['w']: absent -> f32[4] (it is None or left out in one of the two "
         "calls)\n"
         "arguments trained['a']['w']: f32[3] -> absent (it is None or left out in one of the two "
         "calls)",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments trained['a']['w']: absent -> f32[3] (it is None or left out in one of the two "
         "calls)\n"
         "arguments frozen['a']['w']: f32[4] -> absent (it is None or left out in one of the two "
         "calls)"},
        {"x: f32[2] trained['a']['w']: f32[3]\n"
         "return x",
         "x: f16[2] frozen['b']['w']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]", NULL},
        {"x: f32[2] p['a']['w']: f32[3]\n"
         "return x",
         "x: f16[2] p['a']['b']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments p['a']['b']: absent -> f32[3]\n"
         "arguments p['a']['w']: f32[3] -> absent",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments p['a']['w']: absent -> f32[3]\n"
         "arguments p['a']['b']: f32[3] -> absent"},
        // Below a module that wraps it: a step or two more.
        {"x: f32[2] p['a']['w']: f32[3]\n"
         "return x",
         "x: f16[2] p['m']['a']['w']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments p['m']['a']['w']: absent -> f32[3] +1",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments p['a']['w']: absent -> f32[3] +1"},
        {"x: f32[2] p['a']['w']: f32[3]\n"
         "return x",
         "x: f16[2] p['m']['n']['a']['w']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments p['m']['n']['a']['w']: absent -> f32[3] +1",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments p['a']['w']: absent -> f32[3] +1"},
        {"x: f32[2] p['a']['w']: f32[3]\n"
         "return x",
         "x: f16[2] p['m']['n']['o']['a']['w']: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments p['m']['n']['o']['a']['w']: absent -> f32[3]\n"
         "arguments p['a']['w']: f32[3] -> absent",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments p['a']['w']: absent -> f32[3]\n"
         "arguments p['m']['n']['o']['a']['w']: f32[3] -> absent"},
        {"x: f32[2] p.a.w: f32[3]\n"
         "return x",
         "x: f16[2] p.m.a.w: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments p.m.a.w: absent -> f32[3] +1 (it is None or left out in one of the two calls)",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments p.a.w: absent -> f32[3] +1 (it is None or left out in one of the two calls)"},
        {"x: f32[2] a.w: f32[3]\n"
         "return x",
         "x: f16[2] m.a.w: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments m.a.w: absent -> f32[3] +1 (it is None or left out in one of the two calls)",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments a.w: absent -> f32[3] +1 (it is None or left out in one of the two calls)"},
        {"x: f32[2] w: f32[3]\n"
         "return x",
         "x: f16[2] a.w: f32[3]\n"
         "return x",
         "dtype x: f32[2] -> f16[2]\n"
         "arguments a.w: absent -> f32[3] +1 (it is None or left out in one of the two calls)",
         "dtype x: f16[2] -> f32[2]\n"
         "arguments w: absent -> f32[3] +1 (it is None or left out in one of the two calls)"});
}

static void attributes_of_arguments_are_told_by_kind(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[2] y: f32[3]\n"
         "return x",
         "x: f32[2] {jax.buffer_donor=true} y: f32[3] {tf.aliasing_output=0}\n"
         "return x",
         "donation x: kept -> donated +1 (and 1 more argument)", NULL},
        // Whom it is donated to is not a difference.
        {"x: f32[2] {tf.aliasing_output=0}\n"
         "return x",
         "x: f32[2] {jax.buffer_donor=true}\n"
         "return x",
         "structure program: %0: tensor<2xf32> {tf.aliasing_output = 0}  // x -> %0: tensor<2xf32> "
         "{jax.buffer_donor = true}  // x (the same operations, combined differently)",
         NULL},
        {"x: f32[2] {tf.aliasing_output=0} y: f32[2]\n"
         "return x",
         "x: f32[2] y: f32[2] {tf.aliasing_output=0}\n"
         "return x",
         "donation x: donated -> kept\n"
         "donation y: kept -> donated",
         NULL},
        {"x: f32[2] {mhlo.layout_mode='default'}\n"
         "return x",
         "x: f32[2] {mhlo.layout_mode='{0}'}\n"
         "return x",
         "layout x: default -> {0}", NULL},
        {"x: f32[2] {mhlo.memory_kind='device'} y: f32[2] {odd=1}\n"
         "return x",
         "x: f32[2] {mhlo.memory_kind='host'} y: f32[2] {odd=2}\n"
         "return x",
         "sharding x: device -> host (it is in another memory: memory_kind)\n"
         "option y odd: 1 -> 2",
         NULL},
        {"x: f32[2] {odd=1 even=2}\n"
         "return x",
         "x: f32[2] {even=2 odd=1}\n"
         "return x",
         "retrace :  -> ", NULL},
        {"x: f32[2] {odd=1}\n"
         "return x",
         "x: f32[2] {even=2}\n"
         "return x",
         "option x odd: 1 -> unset\n"
         "option x even: unset -> 2",
         "option x even: 2 -> unset\n"
         "option x odd: unset -> 1"},
        {"x: f32[2] {jax.arg_info='x' jax.result_info='y' mhlo.is_same_data_across_replicas=true}\n"
         "return x",
         "x: f32[2]\n"
         "return x",
         "structure program: %0: tensor<2xf32> {jax.arg_info = \"x\", jax.result_info = \"y\", "
         "mhlo.is_same_data_across_replicas = true}  // x -> %0: tensor<2xf32>  // x (the same "
         "operations, combined differently)",
         NULL},
        {"x: f32[2] {mhlo.sharding='{devices=[2]0,1}'} y: f32[2] "
         "{mhlo.sharding='{devices=[2]0,1}'}\n"
         "return x",
         "x: f32[2] {mhlo.sharding='{replicated}'} y: f32[2] {mhlo.sharding='{replicated}'}\n"
         "return x",
         "sharding x: {devices=[2]0,1} -> {replicated} +1 (and 1 more argument)", NULL},
        {"x: f32[2] {mhlo.sharding='{devices=[2]0,1}'} y: f32[2] {mhlo.sharding='{maximal}'}\n"
         "return x",
         "x: f32[2] {mhlo.sharding='{replicated}'} y: f32[2] {mhlo.sharding='{replicated}'}\n"
         "return x",
         "sharding x: {devices=[2]0,1} -> {replicated}\n"
         "sharding y: {maximal} -> {replicated}",
         NULL},
        {"x: f32[2] {sdy.sharding={mesh=&empty_mesh}}\n"
         "return x",
         "x: f32[2]\n"
         "return x",
         "sharding x: committed to a device -> not committed (jax.device_put commits an array to "
         "its device)",
         NULL},
        {"x: f32[2] {sdy.sharding={mesh=&empty_mesh}}\n"
         "return x",
         "x: f32[2] {sdy.sharding={mesh=&mesh}}\n"
         "return x",
         "sharding x: unset -> {mesh = @mesh}", NULL},
        {"x: f32[2] {sdy.sharding={mesh=&mesh}}\n"
         "return x",
         "x: f32[2]\n"
         "return x",
         "sharding x: {mesh = @mesh} -> unset", NULL},
        {"x: f32[2]\n"
         "-> f32[2] {sdy.sharding={mesh=&empty_mesh}}\n"
         "return x",
         "x: f32[2]\n"
         "-> f32[2] {jax.result_info='result'}\n"
         "return x",
         "structure program: ) -> (tensor<2xf32> {sdy.sharding = {mesh = @empty_mesh}}) { -> ) -> "
         "(tensor<2xf32> {jax.result_info = \"result\"}) { (the same operations, combined "
         "differently)",
         NULL},
        {"x: f32[2]\n"
         "-> f32[2] {mhlo.sharding='a'} f32[2] {mhlo.sharding='a'}\n"
         "return x x",
         "x: f32[2]\n"
         "-> f32[2] {mhlo.sharding='b'} f32[2] {mhlo.sharding='b'}\n"
         "return x x",
         "sharding result 0: a -> b +1 (and 1 more result)", NULL},
        {"x: f32[2] {mhlo.sharding='a'} y: f32[2] {mhlo.sharding='a'}\n"
         "-> f32[2] {mhlo.sharding='a'} f32[2] {mhlo.sharding='a'} f32[2] {mhlo.sharding='a'}\n"
         "return x x x",
         "x: f32[2] {mhlo.sharding='b'} y: f32[2] {mhlo.sharding='b'}\n"
         "-> f32[2] {mhlo.sharding='b'} f32[2] {mhlo.sharding='b'} f32[2] {mhlo.sharding='b'}\n"
         "return x x x",
         "sharding x: a -> b +4 (and 1 more argument and 3 results)", NULL},
        {"x: f32[2] {mhlo.sharding='a'}\n"
         "-> f32[2] {mhlo.sharding='a'}\n"
         "return x",
         "x: f32[2] {mhlo.sharding='b'}\n"
         "-> f32[2] {mhlo.sharding='b'}\n"
         "return x",
         "sharding x: a -> b +1 (and 1 result)", NULL},
        {"x: f32[2] {mhlo.sharding='a'} y: f32[2] {mhlo.sharding='a'} z: f32[2] "
         "{mhlo.sharding='a'}\n"
         "-> f32[2] {mhlo.sharding='a'}\n"
         "return x",
         "x: f32[2] {mhlo.sharding='b'} y: f32[2] {mhlo.sharding='b'} z: f32[2] "
         "{mhlo.sharding='b'}\n"
         "-> f32[2] {mhlo.sharding='b'}\n"
         "return x",
         "sharding x: a -> b +3 (and 2 more arguments and 1 result)", NULL});
}

static void meshes_are_compared_by_name(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"top mesh {sym_name='mesh' mesh={axes=[{name='data' size=4}]}}\n"
         "x: f32[2]\n"
         "return x",
         "top mesh {sym_name='mesh' mesh={axes=[{name='data' size=8}]}}\n"
         "x: f32[2]\n"
         "return x",
         "devices mesh of devices: 4 -> 8 (data=4 -> data=8)",
         "devices mesh of devices: 8 -> 4 (data=8 -> data=4)"},
        {"top mesh {sym_name='grid' mesh={axes=[{name='data' size=4} {name='model' size=2}]}}\n"
         "x: f32[2]\n"
         "return x",
         "top mesh {sym_name='grid' mesh={axes=[{name='data' size=2} {name='model' size=4}]}}\n"
         "x: f32[2]\n"
         "return x",
         "sharding mesh grid: data=4, model=2 -> data=2, model=4", NULL},
        {"top mesh {sym_name='mesh' mesh={axes=[{name='data' size=2}] device_ids=[0,1]}}\n"
         "x: f32[2]\n"
         "return x",
         "top mesh {sym_name='mesh' mesh={axes=[{name='data' size=2}] device_ids=[1,0]}}\n"
         "x: f32[2]\n"
         "return x",
         "devices mesh of devices: {axes = [{name = \"data\", size = 2}], device_ids = [0, 1]} -> "
         "{axes = [{name = \"data\", size = 2}], device_ids = [1, 0]}",
         NULL},
        {"top mesh {sym_name='mesh' mesh={axes=[{name='data' size=2}]}}\n"
         "x: f32[2]\n"
         "return x",
         "top mesh {sym_name='other' mesh={axes=[{name='data' size=4}]}}\n"
         "x: f32[2]\n"
         "return x",
         "structure program: mesh {sym_name = \"mesh\", mesh = {axes = [{name = \"data\", size = "
         "2}]}} : () -> () -> mesh {sym_name = \"other\", mesh = {axes = [{name = \"data\", size = "
         "4}]}} : () -> () (the same operations, combined differently)",
         NULL},
        // Its batch is split over the devices.
        {"top mesh {sym_name='mesh' mesh={axes=[{name='data' size=4}]}}\n"
         "x: f32[8]\n"
         "return x",
         "top mesh {sym_name='mesh' mesh={axes=[{name='data' size=2}]}}\n"
         "x: f32[4]\n"
         "return x",
         "devices mesh of devices: 4 -> 2 +1 (data=4 -> data=2)",
         "devices mesh of devices: 2 -> 4 +1 (data=2 -> data=4)"},
        {"top mesh {sym_name='mesh' mesh={axes=[{name='data' size=4}]}}\n"
         "x: f32[8]\n"
         "return x",
         "top mesh {sym_name='mesh' mesh={axes=[{name='data' size=2}]}}\n"
         "x: f32[5]\n"
         "return x",
         "shape x: f32[8] -> f32[5]\n"
         "devices mesh of devices: 4 -> 2 (data=4 -> data=2)",
         "shape x: f32[5] -> f32[8]\n"
         "devices mesh of devices: 2 -> 4 (data=2 -> data=4)"},
        {"top mesh {sym_name='mesh' mesh={axes=[{name='data' size=4}]}}\n"
         "x: f32[8,4]\n"
         "return x",
         "top mesh {sym_name='mesh' mesh={axes=[{name='data' size=2}]}}\n"
         "x: f32[4,3]\n"
         "return x",
         "shape x: f32[8,4] -> f32[4,3]\n"
         "devices mesh of devices: 4 -> 2 (data=4 -> data=2)",
         "shape x: f32[4,3] -> f32[8,4]\n"
         "devices mesh of devices: 2 -> 4 (data=2 -> data=4)"},
        {"top mesh {sym_name='mesh' mesh={axes=[{name='data' size=4}]}}\n"
         "x: f32[8] {mhlo.sharding='a'}\n"
         "-> f32[8] {mhlo.sharding='a'}\n"
         "return x",
         "top mesh {sym_name='mesh' mesh={axes=[{name='data' size=2}]}}\n"
         "x: f32[8] {mhlo.sharding='b'}\n"
         "-> f32[8] {mhlo.sharding='b'}\n"
         "return x",
         "devices mesh of devices: 4 -> 2 +2 (data=4 -> data=2)",
         "devices mesh of devices: 2 -> 4 +2 (data=2 -> data=4)"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_that_changed_alike_are_one_cause),
        cmocka_unit_test(dtypes_that_changed_are_one_cause_and_lead_before_numbers),
        cmocka_unit_test(a_key_of_another_generator_is_an_option),
        cmocka_unit_test(arguments_are_paired_by_name_then_by_place),
        cmocka_unit_test(arguments_that_come_together_are_one_cause),
        cmocka_unit_test(lists_are_paired_by_what_they_hold),
        cmocka_unit_test(arguments_that_moved_keep_type_and_last_step),
        cmocka_unit_test(attributes_of_arguments_are_told_by_kind),
        cmocka_unit_test(meshes_are_compared_by_name),
    };
    return cmocka_run_group_tests_name("explain_signature", tests, NULL, NULL);
}
