#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "store/travel.h"

static keel_digest_t digest_of(unsigned number) {
    return keel_digest(keel_bytes(&number, sizeof number));
}

// `client` is in its only component that differs.
static keel_travel_section_t *section_of(const char *script, unsigned client, unsigned programs) {
    keel_travel_section_t *section = test_calloc(1, sizeof *section);
    snprintf(section->script, sizeof section->script, "%s", script);
    section->time = 1795266302123456789u;
    section->component_count = 2;
    section->components[0].digest = digest_of(1000);
    section->components[1].digest = digest_of(client);
    snprintf(section->components[0].name, 32, "platform");
    snprintf(section->components[1].name, 32, "plugin build");
    snprintf(section->components[1].value, KEEL_TRAVEL_TEXT, "build %u", client);
    for (unsigned i = 0; i < programs; ++i) {
        const keel_planned_t planned = {
            digest_of(i), digest_of(i + 1), digest_of(i + 2), {i + 7, i + 3, 0.5 * i}};
        assert_true(keel_plan_add(&section->plan, &planned));
        section->keys[i] = digest_of(i + 500);
    }
    return section;
}

static void merge(keel_travel_t *travel, const char *script, unsigned client, unsigned programs) {
    keel_travel_section_t *section = section_of(script, client, programs);
    assert_null(keel_travel_merge(travel, section));
    test_free(section);
}

static void what_is_written_is_read_again(void **state) {
    (void)state;
    keel_travel_t travel = {.count = 0}, again;
    keel_buffer_t text, second;
    merge(&travel, "train.py-0123456789abcdef", 1, 3);
    merge(&travel, "train.py-0123456789abcdef", 2, 256);
    keel_buffer_initialize(&text, 0);
    keel_buffer_initialize(&second, 0);
    keel_travel_write(&travel, &text);
    assert_null(keel_travel_parse(keel_buffer_bytes(&text), &again));
    assert_int_equal(again.count, 2);
    assert_int_equal(again.sections[0].plan.count, 256);
    assert_true(keel_plan_equal(&again.sections[1].plan, &travel.sections[1].plan));
    assert_memory_equal(again.sections[1].keys, travel.sections[1].keys, 3 * KEEL_DIGEST_SIZE);
    keel_travel_write(&again, &second);
    assert_string_equal(keel_buffer_cstr(&text), keel_buffer_cstr(&second));
    keel_travel_free(&again);
    // Every beginning of it is refused, or has fewer sections.
    for (size_t size = 0; size < text.size; size += 97) {
        keel_status_t status = keel_travel_parse(keel_bytes(text.data, size), &again);
        assert_true(status || again.count < 2);
        keel_status_ignore(status);
        keel_travel_free(&again);
    }
    keel_buffer_deinitialize(&text);
    keel_buffer_deinitialize(&second);
    keel_travel_free(&travel);
}

static void a_section_takes_the_place_of_one_of_its_script_and_client(void **state) {
    (void)state;
    keel_travel_t travel = {.count = 0};
    merge(&travel, "a", 1, 1);
    merge(&travel, "a", 2, 2);
    merge(&travel, "b", 1, 3);
    merge(&travel, "a", 1, 4);
    assert_int_equal(travel.count, 3);
    assert_int_equal(travel.sections[0].plan.count, 4);
    assert_int_equal(travel.sections[1].plan.count, 3);
    for (unsigned client = 10; client < 30; ++client)
        merge(&travel, "a", client, client);
    assert_int_equal(travel.count, KEEL_TRAVEL_SECTIONS);
    assert_int_equal(travel.sections[0].plan.count, 29);
    keel_travel_free(&travel);
}

static void a_client_finds_its_own_or_hears_what_differs(void **state) {
    (void)state;
    keel_travel_t travel = {.count = 0};
    const keel_travel_component_t *there, *here;
    keel_travel_section_t *client = section_of("c", 2, 0), *stranger = section_of("c", 3, 0);
    assert_null(keel_travel_find(&travel, "c", client, &there, &here));
    assert_null(there);
    merge(&travel, "c", 2, 2);
    merge(&travel, "d", 2, 5);
    assert_int_equal(keel_travel_find(&travel, "c", client, &there, &here)->plan.count, 2);
    // Another path of the script is better than nothing.
    assert_int_equal(keel_travel_find(&travel, "e", client, &there, &here)->plan.count, 5);
    assert_int_equal(keel_travel_newest(&travel, "c")->plan.count, 2);
    assert_int_equal(keel_travel_newest(&travel, "e")->plan.count, 5);
    assert_null(keel_travel_find(&travel, "c", stranger, &there, &here));
    assert_string_equal(there->name, "plugin build");
    assert_string_equal(there->value, "build 2");
    assert_string_equal(here->value, "build 3");
    test_free(client);
    test_free(stranger);
    keel_travel_free(&travel);
}

static void a_label_has_no_path(void **state) {
    (void)state;
    assert_true(keel_str_is(keel_travel_label("train.py-0123456789abcdef"), "train.py"));
    assert_true(keel_str_is(keel_travel_label("train.py"), "train.py"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_section_takes_the_place_of_one_of_its_script_and_client),
        cmocka_unit_test(a_client_finds_its_own_or_hears_what_differs),
        cmocka_unit_test(a_label_has_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
