// What the user's source says of a difference: branches, edits, numbers. Small pairs at the limits
// of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void lines_of_an_arm_are_one_branch(void **state) {
    (void)state;
    CHECK_PAIRS({"| def step(x, flag):\n"
                 "|     if flag:\n"
                 "|         y = tanh(x)\n"
                 "|         z = sin(y)\n"
                 "|     else:\n"
                 "|         z = cos(x)\n"
                 "|     return z\n"
                 "x: f32[4]\n"
                 "w = log f32[4] x @1\n"
                 "k = exponential f32[4] w @7\n"
                 "return k",
                 "x: f32[4]\n"
                 "y = tanh f32[4] x @3\n"
                 "w = log f32[4] y @1\n"
                 "z = sine f32[4] w @4\n"
                 "k = exponential f32[4] z @7\n"
                 "return k",
                 "structure tanh: nothing -> tanh @3<99 +1", NULL},
                {"| def step(x, flag):\n"
                 "|     if flag:\n"
                 "|         y = tanh(x)\n"
                 "|     z = sin(y)\n"
                 "|     return z\n"
                 "x: f32[4]\n"
                 "w = log f32[4] x @1\n"
                 "k = exponential f32[4] w @5\n"
                 "return k",
                 "x: f32[4]\n"
                 "y = tanh f32[4] x @3\n"
                 "w = log f32[4] y @1\n"
                 "z = sine f32[4] w @4\n"
                 "k = exponential f32[4] z @5\n"
                 "return k",
                 "structure tanh: nothing -> tanh @3<99\n"
                 "structure sine: nothing -> sine @4<99",
                 NULL},
                {"| def step(x, flag):\n"
                 "|     if flag:\n"
                 "|         z = x * 2\n"
                 "|     else:\n"
                 "|         z = x * 3\n"
                 "|     return z\n"
                 "x: f32[4]\n"
                 "c = constant f32[] 2\n"
                 "b = broadcast_in_dim f32[4] c @3\n"
                 "z = multiply f32[4] x b @3\n"
                 "return z",
                 "x: f32[4]\n"
                 "c = constant f32[] 3\n"
                 "b = broadcast_in_dim f32[4] c @5\n"
                 "z = multiply f32[4] x b @5\n"
                 "return z",
                 "constant multiply: 2 -> 3 @5<99", "constant multiply: 3 -> 2 @3<99"},
                {"| def step(x, flag):\n"
                 "|     if flag:\n"
                 "|         y = tanh(x)\n"
                 "|     else:\n"
                 "|         y = cos(x)\n"
                 "|     if flag:\n"
                 "|         z = sin(y)\n"
                 "|     else:\n"
                 "|         z = log(y)\n"
                 "|     return z\n"
                 "x: f32[4]\n"
                 "y = tanh f32[4] x @3\n"
                 "k = exponential f32[4] y @10\n"
                 "z = sine f32[4] k @7\n"
                 "return z",
                 "x: f32[4]\n"
                 "y = cosine f32[4] x @5\n"
                 "k = exponential f32[4] y @10\n"
                 "z = log f32[4] k @9\n"
                 "return z",
                 "structure cosine: tanh -> cosine @5<99\n"
                 "structure log: sine -> log @9<99",
                 "structure tanh: cosine -> tanh @3<99\n"
                 "structure sine: log -> sine @7<99"},
                {"| def step(x, flag):\n"
                 "|     if flag:\n"
                 "|         y = tanh(x)\n"
                 "|         return sin(y)\n"
                 "|     return cos(x)\n"
                 "x: f32[4]\n"
                 "y = tanh f32[4] x @3\n"
                 "k = exponential f32[4] y @1\n"
                 "z = sine f32[4] k @4\n"
                 "return z",
                 "x: f32[4]\n"
                 "k = exponential f32[4] x @1\n"
                 "z = cosine f32[4] k @5\n"
                 "return z",
                 "structure tanh: tanh -> nothing @3<99 +1",
                 "structure sine: cosine -> sine @4<99 +1"});
}

static void an_edit_is_told_by_its_lines(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"| y = x * 2\n"
         "| return y\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @1\n"
         "y = multiply f32[4] x b @1\n"
         "return y",
         "| y = x * 3\n"
         "| return y\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @1\n"
         "y = multiply f32[4] x b @1\n"
         "return y",
         "edit step: y = x * 2 -> y = x * 3 @1<99 +1 (line 1 of train.py changed)", NULL},
        // Above, and of the last line; a line more at the top or at the end.
        {"| import jax\n"
         "| y = x * 2\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @2\n"
         "y = multiply f32[4] x b @2\n"
         "return y",
         "| import jax\n"
         "| y = x * 3\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @2\n"
         "y = multiply f32[4] x b @2\n"
         "return y",
         "edit step: y = x * 2 -> y = x * 3 @2<99 +1 (line 2 of train.py changed)", NULL},
        {"| import jax\n"
         "|~y = x * 2\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @2\n"
         "y = multiply f32[4] x b @2\n"
         "return y",
         "| import jax\n"
         "|~y = x * 3\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @2\n"
         "y = multiply f32[4] x b @2\n"
         "return y",
         "edit step: y = x * 2 -> y = x * 3 @2<99 +1 (line 2 of train.py changed)", NULL},
        {"| y = x * 2\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @1\n"
         "y = multiply f32[4] x b @1\n"
         "return y",
         "| k = 3\n"
         "| y = x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @2\n"
         "y = multiply f32[4] x b @2\n"
         "return y",
         "edit step: y = x * 2 -> k = 3 @1<99 +1 (lines 1-2 of train.py changed)",
         "edit step: k = 3 -> y = x * 2 @1<99 +1 (line 1 of train.py changed)"},
        {"| y = x * 2\n"
         "x: f32[4]\n"
         "y = multiply f32[4] x x @1\n"
         "return y",
         "| y = x * 2\n"
         "| y = tanh(y)\n"
         "x: f32[4]\n"
         "y = multiply f32[4] x x @1\n"
         "z = tanh f32[4] y @2\n"
         "return z",
         "edit step: nothing -> y = tanh(y) @2<99 +1 (line 2 of train.py changed)",
         "edit step: y = tanh(y) -> nothing @1<99 +1 (line 2 of train.py was removed)"},
        {"| y = x * x\n"
         "| y = tanh(y)\n"
         "| y = sin(y)\n"
         "x: f32[4]\n"
         "y = multiply f32[4] x x @1\n"
         "z = tanh f32[4] y @2\n"
         "w = sine f32[4] z @3\n"
         "return w",
         "| y = x * x\n"
         "| y = sin(y)\n"
         "x: f32[4]\n"
         "y = multiply f32[4] x x @1\n"
         "w = sine f32[4] y @2\n"
         "return w",
         "edit step: y = tanh(y) -> nothing @2<99 +1 (line 2 of train.py was removed)",
         "edit step: nothing -> y = tanh(y) @2<99 +1 (line 2 of train.py changed)"},
        {"| y = x * x\n"
         "| y = tanh(y)\n"
         "| y = sin(y)\n"
         "x: f32[4]\n"
         "y = multiply f32[4] x x @1\n"
         "z = tanh f32[4] y @2\n"
         "w = sine f32[4] z @3\n"
         "return w",
         "| y = x * x\n"
         "x: f32[4]\n"
         "y = multiply f32[4] x x @1\n"
         "return y",
         "edit step: y = tanh(y) -> nothing @1<99 +1 (line 2 of train.py was removed)",
         "edit step: nothing -> y = tanh(y) @2<99 +1 (lines 2-3 of train.py changed)"},
        {"| x = sin(x)\n"
         "| y = x * x\n"
         "x: f32[4]\n"
         "w = sine f32[4] x @1\n"
         "y = multiply f32[4] w w @2\n"
         "return y",
         "| y = x * x\n"
         "x: f32[4]\n"
         "y = multiply f32[4] x x @1\n"
         "return y",
         "edit step: x = sin(x) -> nothing @1<99 +1 (line 1 of train.py was removed)",
         "edit step: nothing -> x = sin(x) @1<99 +1 (line 1 of train.py changed)"},
        {"| def other(x):\n"
         "|     return 1\n"
         "| def step(x):\n"
         "|     k = 2\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @5\n"
         "y = multiply f32[4] x b @5\n"
         "return y",
         "| def other(x):\n"
         "|     return 1\n"
         "| def step(y):\n"
         "|     k = 2\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @5\n"
         "y = multiply f32[4] x b @5\n"
         "return y",
         "edit step: def step(x): -> def step(y): @3<99 +1 (line 3 of train.py changed)", NULL},
        // Lines that belong together, and others between them.
        {"| a = 1\n"
         "| y = x * 2\n"
         "| b = 1\n"
         "| z = y + 1\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @2\n"
         "y = multiply f32[4] x b @2\n"
         "return y",
         "| a = 2\n"
         "| y = x * 3\n"
         "| b = 1\n"
         "| z = y + 2\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @2\n"
         "y = multiply f32[4] x b @2\n"
         "return y",
         "edit step: a = 1 -> a = 2 @1<99 +1 (lines 1-2 of train.py changed)", NULL},
        // An edit of its function, below the decorators; not of the function above.
        {"| def other(x):\n"
         "|     return 1\n"
         "| @jit\n"
         "| def step(x):\n"
         "|     k = 2\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @6\n"
         "y = multiply f32[4] x b @6\n"
         "return y",
         "| def other(x):\n"
         "|     return 2\n"
         "| @jit\n"
         "| def step(x):\n"
         "|     k = 3\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @6\n"
         "y = multiply f32[4] x b @6\n"
         "return y",
         "edit step: k = 2 -> k = 3 @5<99 +1 (line 5 of train.py changed)", NULL},
        {"| def other(x):\n"
         "|     return 1\n"
         "| @jit\n"
         "| def step(x):\n"
         "|     k = 2\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @6\n"
         "y = multiply f32[4] x b @6\n"
         "return y",
         "| def other(x):\n"
         "|     return 1\n"
         "| @jit(2)\n"
         "| def step(x):\n"
         "|     k = 2\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @6\n"
         "y = multiply f32[4] x b @6\n"
         "return y",
         "edit step: @jit -> @jit(2) @3<99 +1 (line 3 of train.py changed)", NULL},
        {"| def other(x):\n"
         "|     return 1\n"
         "| def step(x):\n"
         "|     k = 2\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @5\n"
         "y = multiply f32[4] x b @5\n"
         "return y",
         "| def other(x):\n"
         "|     return 2\n"
         "| def step(x):\n"
         "|     k = 2\n"
         "|     return x * k\n"
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @5\n"
         "y = multiply f32[4] x b @5\n"
         "return y",
         "constant multiply: 2 -> 3 @5<99", NULL},
        // An argument, by the line that uses it.
        {"| y = tanh(x)\n"
         "x: f32[4]\n"
         "y = tanh f32[4] x @1\n"
         "return y",
         "| y = tanh(x) + z\n"
         "x: f32[4] z: f32[4]\n"
         "y = tanh f32[4] x @1\n"
         "w = add f32[4] y z @1\n"
         "return w",
         "edit step: y = tanh(x) -> y = tanh(x) + z @1<99 +2 (line 1 of train.py changed)", NULL},
        {"| y = tanh(x)\n"
         "| w = 1\n"
         "x: f32[4]\n"
         "y = tanh f32[4] x @1\n"
         "return y",
         "| y = tanh(x)\n"
         "| w = 2\n"
         "x: f32[4] z: f32[4]\n"
         "y = tanh f32[4] x @1\n"
         "w = add f32[4] y z @1\n"
         "return w",
         "arguments z: absent -> f32[4] @99 +1 (it is None or left out in one of the two calls)",
         NULL},
        // By an operation that both programs have.
        {"| y = tanh(x)\n"
         "| w = y + y\n"
         "x: f32[4]\n"
         "y = tanh f32[4] x @1\n"
         "w = add f32[4] y y @2\n"
         "return w",
         "| y = tanh(x)\n"
         "| w = y + z\n"
         "x: f32[4] z: f32[4]\n"
         "y = tanh f32[4] x @1\n"
         "w = add f32[4] y z @2\n"
         "return w",
         "edit step: w = y + y -> w = y + z @2<99 +1 (line 2 of train.py changed)", NULL});
}

static void numbers_that_follow_from_each_other(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "c = constant f32[] 0.9\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 0.1\n"
                 "e = broadcast_in_dim f32[4] d @8\n"
                 "z = multiply f32[4] y e @8\n"
                 "return z",
                 "x: f32[4]\n"
                 "c = constant f32[] 0.99\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 0.01\n"
                 "e = broadcast_in_dim f32[4] d @8\n"
                 "z = multiply f32[4] y e @8\n"
                 "return z",
                 "constant multiply: 0.9 -> 0.99 @7<99 +1", NULL},
                {"x: f32[4]\n"
                 "c = constant f32[] 0.9\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 3\n"
                 "e = broadcast_in_dim f32[4] d @8\n"
                 "z = multiply f32[4] y e @8\n"
                 "return z",
                 "x: f32[4]\n"
                 "c = constant f32[] 0.99\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 7\n"
                 "e = broadcast_in_dim f32[4] d @8\n"
                 "z = multiply f32[4] y e @8\n"
                 "return z",
                 "constant multiply: 0.9 -> 0.99 @7<99\n"
                 "constant multiply: 3 -> 7 @8<99",
                 NULL},
                // On one line: the first; or the one that the user wrote.
                {"x: f32[4]\n"
                 "c = constant f32[] 0.9\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 3\n"
                 "e = broadcast_in_dim f32[4] d @7\n"
                 "z = add f32[4] y e @7\n"
                 "return z",
                 "x: f32[4]\n"
                 "c = constant f32[] 0.99\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 7\n"
                 "e = broadcast_in_dim f32[4] d @7\n"
                 "z = add f32[4] y e @7\n"
                 "return z",
                 "constant multiply: 0.9 -> 0.99 @7<99 +1", NULL},
                {"| make(3)\n"
                 "| make(7)\n"
                 "x: f32[4]\n"
                 "c = constant f32[] 0.9\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 3\n"
                 "e = broadcast_in_dim f32[4] d @7\n"
                 "z = add f32[4] y e @7\n"
                 "return z",
                 "x: f32[4]\n"
                 "c = constant f32[] 0.99\n"
                 "b = broadcast_in_dim f32[4] c @7\n"
                 "y = multiply f32[4] x b @7\n"
                 "d = constant f32[] 7\n"
                 "e = broadcast_in_dim f32[4] d @7\n"
                 "z = add f32[4] y e @7\n"
                 "return z",
                 "constant add: 3 -> 7 @7<99 +1", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_an_arm_are_one_branch),
        cmocka_unit_test(an_edit_is_told_by_its_lines),
        cmocka_unit_test(numbers_that_follow_from_each_other),
    };
    return cmocka_run_group_tests_name("explain_source", tests, NULL, NULL);
}
