// The line of a Python text that copies what another line computed.
#define _GNU_SOURCE
#include "explain/stored.h"

#include "place.h"

static uint32_t stored_at(const char *text, uint32_t computed) {
    return keel_stored_at(keel_str(text), computed);
}

static void a_copy_is_found_by_the_name_that_the_line_assigns(void **state) {
    (void)state;
    assert_int_equal(stored_at("new = 0.9 * kept\nkept.copy_(new)\n", 1), 2);
    assert_int_equal(stored_at("x = 1\n  new=f(x)\n\n  kept.copy_(new.detach())", 2), 4);
    assert_int_equal(stored_at("new = f(x)\nif late:\n    kept[:] = new  # now in place\n", 1), 3);
}

static void names_are_compared_whole(void **state) {
    (void)state;
    assert_int_equal(stored_at("new = f(x)\nkept.copy_(newer)\n", 1), 0);
    assert_int_equal(stored_at("new = f(x)\nkept.copy_(new_one)\n", 1), 0);
    assert_int_equal(stored_at("new = f(x)\nkept.copy_(x)\nkept[:] = x + new\n", 1), 0);
}

static void only_a_plain_name_is_followed(void **state) {
    (void)state;
    assert_int_equal(stored_at("self.new = f(x)\nkept.copy_(new)\n", 1), 0);
    assert_int_equal(stored_at("new == f(x)\nkept.copy_(new)\n", 1), 0);
    assert_int_equal(stored_at("new += f(x)\nkept.copy_(new)\n", 1), 0);
    assert_int_equal(stored_at("return f(x)\nkept.copy_(x)\n", 1), 0);
}

static void comments_and_other_functions_do_not_count(void **state) {
    (void)state;
    assert_int_equal(stored_at("new = f(x)\n# kept.copy_(new)\n", 1), 0);
    assert_int_equal(stored_at("new = f(x)\ndef g(new):\n    kept.copy_(new)\n", 1), 0);
    assert_int_equal(stored_at("new = f(x)\ndef g(): pass\nkept.copy_(new)\n", 1), 3);
    assert_int_equal(stored_at("new = f(x)\n_ = '\"kept.copy_(new)'\n", 1), 0);
    assert_int_equal(stored_at("new = f(x)\nkept.copy_(\n    new)\n", 1), 2);
    assert_int_equal(stored_at("kept.copy_(new)\nnew = f(x)\n", 2), 0);
}

static void of_two_copies_neither_is_told(void **state) {
    (void)state;
    assert_int_equal(stored_at("new = f(x)\na.copy_(new)\nb.copy_(new)\n", 1), 0);
}

static void a_copy_is_looked_for_so_far(void **state) {
    (void)state;
    enum { FAR = 64 };
    for (uint32_t between = FAR - 2; between <= FAR; ++between) {
        char text[1024];
        size_t size = (size_t)snprintf(text, sizeof text, "new = f(x)\n");
        for (uint32_t i = 0; i < between; ++i)
            size += (size_t)snprintf(text + size, sizeof text - size, "y = 1\n");
        snprintf(text + size, sizeof text - size, "kept.copy_(new)\n");
        assert_int_equal(stored_at(text, 1), between < FAR ? between + 2 : 0);
    }
}

static void blanks_and_endings_of_lines(void **state) {
    (void)state;
    assert_int_equal(stored_at("\tnew\t= f(x)\n\tkept.copy_(new)\n", 1), 2);
    assert_int_equal(stored_at("new =f(x)\nkept.copy_(new)", 1), 2);
    assert_int_equal(stored_at("new = f(x)\nkept.copy_(ne", 1), 0);
    assert_int_equal(stored_at("new = f(x)\nkept[0] = new", 1), 2);
    assert_int_equal(stored_at("new = f(x)\nkept[0] == new", 1), 0);
    assert_int_equal(stored_at("new = f(x)\nkept = new", 1), 0);
    assert_int_equal(stored_at("new = f(x)\na[0] = b.copy_(newer); c[1] = new", 1), 2);
    assert_int_equal(stored_at("new =\nkept.copy_(new)\n", 1), 0);
    assert_int_equal(stored_at("new = f(x)\nclass A:\n  kept.copy_(new)\n", 1), 0);
    assert_int_equal(stored_at("new = f(x)\nclassed = define\nkept.copy_(new)\n", 1), 3);
    assert_int_equal(stored_at("\n\nnew = f(x)\nkept.copy_(new)\n", 3), 4);
}

static void a_line_beyond_the_text_has_none(void **state) {
    (void)state;
    assert_int_equal(stored_at("new = f(x)\n", 7), 0);
    assert_int_equal(stored_at("", 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_found_by_the_name_that_the_line_assigns),
        cmocka_unit_test(names_are_compared_whole),
        cmocka_unit_test(only_a_plain_name_is_followed),
        cmocka_unit_test(comments_and_other_functions_do_not_count),
        cmocka_unit_test(of_two_copies_neither_is_told),
        cmocka_unit_test(a_copy_is_looked_for_so_far),
        cmocka_unit_test(blanks_and_endings_of_lines),
        cmocka_unit_test(a_line_beyond_the_text_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
