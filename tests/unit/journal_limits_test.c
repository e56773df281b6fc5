// Journals and programs that would take far more memory than their size.
#define _GNU_SOURCE
#include "place.h"

#include <jansson.h>

#include "base/json_cost.h"
#include "journal/journal.h"

static keel_status_t keep(void *context, const struct json_t *event) {
    json_array_append(context, (json_t *)(uintptr_t)event);
    return NULL;
}

// As a damaged or made-up journal: many bytes of memory for each of the file's.
static keel_status_t keep_lines(const char *text, uint64_t *out_lost) {
    keel_journal_damage_t damage;
    json_t *events = json_array();
    keel_status_t status =
        keel_journal_parse(keel_str_bytes(keel_str(text)), keep, events, &damage);
    *out_lost = damage.lines;
    json_decref(events);
    return status;
}

static void an_event_that_would_take_too_much_memory_is_damage(void **state) {
    (void)state;
    enum { MANY = 100 };
    uint64_t lost, most = keel_limit(KEEL_LIMIT_EVENTS_LEAST);
    char lines[MANY * 32] = "", line[MANY * 4 + 32] = "{\"event\":\"x\",\"y\":[";
    for (size_t i = 0; i < MANY; ++i) {
        memcpy(lines + strlen(lines), "{\"event\":\"miss\"}\n", 18);
        memcpy(line + strlen(line), "{},", 4);
    }
    memcpy(line + strlen(line), "{}]}\n", 6);
    keel_limit_set(KEEL_LIMIT_EVENTS_LEAST, 4096);
    assert_ok(keep_lines(lines, &lost)); // one at a time
    assert_int_equal(lost, 0);
    assert_ok(keep_lines(line, &lost));
    assert_int_equal(lost, 1);
    keel_limit_set(KEEL_LIMIT_EVENTS_LEAST, most);
    assert_ok(keep_lines(line, &lost));
    assert_int_equal(lost, 0);
}

// A file's lines, in pieces.
typedef struct lengths_t {
    size_t events, longest;
} lengths_t;

static keel_status_t measure(void *context, const struct json_t *event) {
    lengths_t *lengths = context;
    size_t length = strlen(keel_event_text(event, "text"));
    ++lengths->events;
    if (length > lengths->longest) lengths->longest = length;
    return NULL;
}

static void put_line(FILE *file, size_t length, bool is_whole) {
    fputs("{\"event\":\"x\",\"text\":\"", file);
    for (size_t i = 0; i < length; ++i)
        fputc('a', file);
    fputs(is_whole ? "\"}\n" : "", file);
}

static void a_line_that_is_too_long_is_damage_and_the_others_are_read(void **state) {
    (void)state;
    enum { LIMIT = 4096, AROUND = sizeof "{\"event\":\"x\",\"text\":\"\"}" - 1 };
    static const size_t lengths[] = {10, LIMIT - AROUND - 1, LIMIT,       20,        9 * LIMIT,
                                     30, 2 * LIMIT,          LIMIT - 100, 3 * LIMIT, 40};
    place_t place;
    char path[PATH_MAX];
    lengths_t found = {0};
    keel_journal_damage_t damage;
    uint64_t most = keel_limit(KEEL_LIMIT_LINE);
    place_make(&place);
    snprintf(path, sizeof path, "%s/journal.ndjson", place.root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
        put_line(file, lengths[i], true);
    put_line(file, 50, false); // its process was killed
    fclose(file);
    keel_limit_set(KEEL_LIMIT_LINE, LIMIT);
    assert_ok(keel_journal_read(path, measure, &found, &damage));
    keel_limit_set(KEEL_LIMIT_LINE, most);
    assert_int_equal(found.events, 6);
    assert_int_equal(found.longest, LIMIT - AROUND - 1);
    assert_int_equal(damage.lines, 4);
    assert_int_equal(damage.first_line, 3);
    assert_non_null(strstr(damage.why, "longer than"));
    place_remove(&place);
}

static void an_event_is_known_to_take_what_its_values_take(void **state) {
    (void)state;
    const uint64_t empty = keel_json_cost(KEEL_STR("{\"event\":\"x\"}")),
                   quoted = keel_json_cost(KEEL_STR("{\"event\":\"{}[],:\\\"{}\"}")),
                   object = keel_json_cost(KEEL_STR("{\"event\":\"x\",\"a\":{}}")),
                   list = keel_json_cost(KEEL_STR("{\"event\":\"x\",\"a\":[0,0]}"));
    assert_in_range(empty, 300, 600); // a table of jansson and one member
    assert_in_range(quoted, empty, empty + 20);
    assert_in_range(object, empty + 300, empty + 600);
    assert_in_range(list, empty + 200, empty + 500);
    assert_true(keel_json_cost(KEEL_STR("\"\\")) < 200);
}

static void a_program_that_would_take_too_much_memory_is_refused(void **state) {
    (void)state;
    static uint8_t zeros[1 << 16];
    place_t place;
    char path[PATH_MAX];
    uint8_t *packed, *data;
    size_t size;
    uint64_t least = keel_limit(KEEL_LIMIT_PROGRAM_LEAST);
    place_make(&place);
    snprintf(path, sizeof path, "%s/zeros.mlir.zst", place.root);
    assert_ok(keel_pack(keel_bytes(zeros, sizeof zeros), &packed, &size));
    assert_ok(keel_file_replace(path, keel_bytes(packed, size)));
    keel_free(packed);
    assert_ok(keel_journal_read_program(path, &data, &size));
    assert_int_equal(size, sizeof zeros);
    keel_free(data);
    keel_limit_set(KEEL_LIMIT_PROGRAM_LEAST, 1);
    assert_code(keel_journal_read_program(path, &data, &size), KEEL_CORRUPT);
    keel_limit_set(KEEL_LIMIT_PROGRAM_LEAST, least);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_that_would_take_too_much_memory_is_damage),
        cmocka_unit_test(a_line_that_is_too_long_is_damage_and_the_others_are_read),
        cmocka_unit_test(an_event_is_known_to_take_what_its_values_take),
        cmocka_unit_test(a_program_that_would_take_too_much_memory_is_refused),
    };
    return cmocka_run_group_tests_name("journal_limits", tests, NULL, NULL);
}
