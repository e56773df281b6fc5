#define _GNU_SOURCE // pthread_setaffinity_np
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"

static void a_buffer_stops_at_its_cap_and_says_so(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 8);
    keel_buffer_text(&buffer, "12345678");
    assert_null(keel_buffer_status(&buffer));
    keel_buffer_byte(&buffer, '9');
    keel_status_t status = keel_buffer_status(&buffer);
    assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
    keel_status_ignore(status);
    assert_string_equal(keel_buffer_cstr(&buffer), "12345678");
    keel_buffer_deinitialize(&buffer);
}

static void *spin(void *is_over) {
    while (!atomic_load((atomic_bool *)is_over))
        continue;
    return NULL;
}

// Both on one processor.
static void a_thread_that_others_keep_from_running_is_queued(void **state) {
    (void)state;
    cpu_set_t all, one;
    pthread_t other;
    atomic_bool is_over = false;
    if (access("/proc/thread-self/schedstat", R_OK)) skip();
    assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); ++i)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    assert_int_equal(pthread_create(&other, NULL, spin, &is_over), 0);
    uint64_t queued = keel_clock_queued(), start = keel_clock_monotonic();
    for (uint64_t began = keel_clock_thread(); keel_clock_thread() - began < 100000000u;)
        continue;
    queued = keel_clock_queued_since(queued);
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof all, &all), 0);
    assert_in_range(queued, 10000000u, keel_clock_monotonic() - start);
    assert_int_equal(keel_clock_queued_since(UINT64_MAX), 0);
}

static void a_wait_ends_when_its_time_is_up_or_when_it_is_signaled(void **state) {
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    keel_wait_initialize(&condition);
    pthread_mutex_lock(&lock);
    uint64_t until = keel_clock_monotonic() + 20000000u;
    while (keel_wait_until(&condition, &lock, until))
        continue;
    assert_true(keel_clock_monotonic() >= until);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&condition);
}

static void what_acts_on_a_terminal_or_hides_an_order_is_not_shown(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        bool shows;
    } rows[] = {
        {"a", 1, true},
        {" ", 1, true},
        {"\xc3\xa9", 2, true},         // e with an acute accent
        {"\xc2\xa0", 2, true},         // a blank that breaks no line
        {"\xd8\xa8", 2, true},         // an Arabic letter
        {"\xe2\x80\x94", 3, true},     // a dash
        {"\xe2\x81\xa0", 3, true},     // a word joiner
        {"\xf0\x9f\x99\x82", 4, true}, // beyond the first plane
        {"\t", 1, false},
        {"\n", 1, false},
        {"\x1b[2J", 1, false},
        {"\x7f", 1, false},
        {"\xc2\x9b\x32\x4a", 2, false}, // a control sequence's C1 form
        {"\xc2\x80", 2, false},
        {"\xc2\x9f", 2, false},
        {"\xd8\x9c", 2, false},     // Arabic letter mark
        {"\xe2\x80\x8e", 3, false}, // left-to-right mark
        {"\xe2\x80\x8f", 3, false},
        {"\xe2\x80\xa8", 3, false}, // line separator
        {"\xe2\x80\xae", 3, false}, // right-to-left override
        {"\xe2\x81\xa6", 3, false}, // left-to-right isolate
        {"\xe2\x81\xa9", 3, false},
        {"\x9b", 1, false}, // no UTF-8
        {"\xff", 1, false},
        {"\xe2\x80", 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        size_t length = 0;
        bool shows = keel_utf8_shows(keel_str(rows[i].text), 0, &length);
        if (shows != rows[i].shows || length != rows[i].length)
            fail_msg("row %zu: %d, %zu bytes", i, shows, length);
    }
}

static void a_list_that_grows_keeps_its_items(void **state) {
    (void)state;
    uint64_t *list = NULL;
    size_t capacity = 0, grew = 0;
    for (size_t i = 0; i < 1000; ++i) {
        void *memory = list;
        size_t before = capacity;
        assert_null(keel_grow_array(i, sizeof *list, &capacity, &memory));
        list = memory;
        list[i] = i * 3;
        grew += capacity != before;
    }
    for (size_t i = 0; i < 1000; ++i)
        assert_int_equal(list[i], i * 3);
    assert_in_range(grew, 2, 10);
    // What has no room is left as it was.
    static const size_t full[] = {SIZE_MAX / 2 + 1, SIZE_MAX / 8, SIZE_MAX};
    for (size_t i = 0; i < sizeof full / sizeof *full; ++i) {
        void *memory = list;
        capacity = full[i];
        keel_status_t status = keel_grow_array(full[i], sizeof *list, &capacity, &memory);
        assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
        assert_ptr_equal(memory, list);
        assert_int_equal(capacity, full[i]);
    }
    keel_free(list);
}

static void a_map_finds_what_was_put_after_it_grew(void **state) {
    (void)state;
    keel_map_t map;
    keel_map_initialize(&map);
    for (uint64_t i = 0; i < 1000; ++i)
        assert_null(keel_map_put(&map, keel_bytes(&i, sizeof i), i * 3));
    for (uint64_t i = 0; i < 1000; ++i)
        assert_int_equal(*keel_map_find(&map, keel_bytes(&i, sizeof i)), i * 3);
    uint64_t absent = 1000;
    assert_null(keel_map_find(&map, keel_bytes(&absent, sizeof absent)));
    assert_int_equal(map.count, 1000);
    keel_map_deinitialize(&map);
}

static void sizes_are_read_with_their_units(void **state) {
    (void)state;
    uint64_t size;
    assert_true(keel_parse_size("20G", &size) && size == 20ull << 30);
    assert_true(keel_parse_size("512MiB", &size) && size == 512ull << 20);
    assert_true(keel_parse_size("7", &size) && size == 7);
    assert_false(keel_parse_size("", &size) || keel_parse_size("-1", &size) ||
                 keel_parse_size("1x", &size) || keel_parse_size("99999999999G", &size));
}

static void sizes_are_told_in_the_units_that_they_are_read_in(void **state) {
    (void)state;
    static const struct {
        const char *read, *told;
    } sizes[] = {{"0", "0 B"},        {"832", "832 B"},       {"1023", "1023 B"},
                 {"1k", "1.0 KiB"},   {"20G", "20.0 GiB"},    {"20gb", "20.0 GiB"},
                 {"256M", "256 MiB"}, {"1048575", "1.0 MiB"}, {"1000k", "1000 KiB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        uint64_t size;
        char told[16];
        assert_true(keel_parse_size(sizes[i].read, &size));
        keel_format_size(size, told);
        assert_string_equal(told, sizes[i].told);
    }
}

// No time is shown as 120.0 s, 1000 ms or 10.0 ms: the next unit begins where it would be rounded
// so.
static void a_time_is_told_in_the_unit_that_fits_it(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *told;
    } times[] = {
        {-1, "0.0 ms"},
        {0, "0.0 ms"},
        {0.00994, "9.9 ms"},
        {0.00995, "10 ms"},
        {0.9994, "999 ms"},
        {0.9995, "1.0 s"},
        {119.94, "119.9 s"},
        {119.95, "2 min 0 s"},
        {179.6, "3 min 0 s"},
        {3661, "61 min 1 s"},
        {1e12, "66666666 min 40 s"},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
        char told[24];
        keel_format_seconds(times[i].seconds, told);
        assert_string_equal(told, times[i].told);
    }
}

static void a_proto_field_longer_than_its_message_fails_the_cursor(void **state) {
    (void)state;
    const uint8_t bytes[] = {0x0a, 0x05, 'a', 'b'};
    keel_cursor_t cursor = keel_cursor(keel_bytes(bytes, sizeof bytes));
    keel_proto_field_t field;
    assert_false(keel_proto_next(&cursor, &field));
    assert_true(cursor.failed);
}

// Lengths around each size of their varint: the contents are moved behind a longer one.
static void a_proto_that_was_written_is_read_back(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 70000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_proto_put_number(&out, 1, KEEL_WIRE_VARINT, UINT64_MAX);
        size_t outer = keel_proto_open(&out, 500), inner = keel_proto_open(&out, 2);
        for (size_t at = 0; at < sizes[i]; ++at)
            keel_buffer_byte(&out, (uint8_t)(at % 251));
        keel_proto_close(&out, inner);
        keel_proto_close(&out, outer);
        keel_proto_put_bytes(&out, 3, keel_str_bytes(KEEL_STR("end")));
        assert_null(keel_buffer_status(&out));
        keel_cursor_t cursor = keel_cursor(keel_buffer_bytes(&out));
        keel_proto_field_t field;
        assert_true(keel_proto_next(&cursor, &field));
        assert_true(field.number == 1 && field.value == UINT64_MAX);
        assert_true(keel_proto_next(&cursor, &field));
        assert_int_equal(field.number, 500);
        keel_cursor_t nested = keel_cursor(field.bytes);
        assert_true(keel_proto_next(&nested, &field));
        assert_int_equal(field.bytes.size, sizes[i]);
        for (size_t at = 0; at < sizes[i]; ++at)
            assert_int_equal(field.bytes.data[at], at % 251);
        assert_false(keel_proto_next(&nested, &field) || nested.failed);
        assert_true(keel_proto_next(&cursor, &field));
        assert_true(keel_str_is(keel_bytes_str(field.bytes), "end"));
        assert_false(keel_proto_next(&cursor, &field) || cursor.failed);
        keel_buffer_deinitialize(&out);
    }
}

static void a_proto_that_is_full_stays_failed(void **state) {
    (void)state;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 130);
    size_t opened = keel_proto_open(&out, 1);
    for (int i = 0; i < 128; ++i)
        keel_buffer_byte(&out, 7);
    assert_false(out.failed);
    keel_proto_close(&out, opened); // its length takes a second byte
    assert_true(out.failed);
    keel_proto_close(&out, opened);
    keel_buffer_deinitialize(&out);
}

// Only where the build records it: in a debug build, and so in those of the sanitizers.
static void assert_place(keel_status_t status, int line) {
    const char *place = keel_status_place(status);
#ifdef KEEL_STATUS_PLACES
    char end[128];
    snprintf(end, sizeof end, "tests/unit/base_test.c:%d]", line);
    assert_true(strlen(place) >= strlen(end));
    assert_string_equal(place + strlen(place) - strlen(end), end);
#else
    (void)line;
    assert_string_equal(place, "");
#endif
}

static void a_status_of_a_debug_build_knows_where_it_was_made(void **state) {
    (void)state;
    int line = __LINE__ + 1;
    keel_status_t status = keel_status_make(KEEL_IO, "%d bytes", 5);
    assert_string_equal(keel_status_message(status), "5 bytes");
    assert_place(status, line);
    status = keel_status_annotate(status, "reading %s", "a");
    assert_string_equal(keel_status_message(status), "reading a: 5 bytes");
    assert_place(status, line); // of the failure, not of the words around it
    keel_status_ignore(status);
    assert_string_equal(keel_status_place(NULL), "");
#ifdef KEEL_STATUS_PLACES
    // A compiler may name a file from the folder of the build.
    status = keel_status_make_at("../../src/a.c", 7, KEEL_IO, "b");
    assert_string_equal(keel_status_place(status), " [src/a.c:7]");
    keel_status_ignore(status);
#endif
}

static int looks;

static bool look(bool answer) {
    ++looks;
    return answer;
}

static void what_does_not_hold_ends_a_debug_build_and_costs_others_nothing(void **state) {
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (!child) {
        fclose(stderr);
        KEEL_ASSERT(look(true));
        KEEL_ASSERT(look(false));
        _exit(looks);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
#ifdef KEEL_ASSERTS
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#else
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_stops_at_its_cap_and_says_so),
        cmocka_unit_test(what_does_not_hold_ends_a_debug_build_and_costs_others_nothing),
        cmocka_unit_test(a_thread_that_others_keep_from_running_is_queued),
        cmocka_unit_test(a_wait_ends_when_its_time_is_up_or_when_it_is_signaled),
        cmocka_unit_test(what_acts_on_a_terminal_or_hides_an_order_is_not_shown),
        cmocka_unit_test(a_list_that_grows_keeps_its_items),
        cmocka_unit_test(a_map_finds_what_was_put_after_it_grew),
        cmocka_unit_test(sizes_are_read_with_their_units),
        cmocka_unit_test(sizes_are_told_in_the_units_that_they_are_read_in),
        cmocka_unit_test(a_time_is_told_in_the_unit_that_fits_it),
        cmocka_unit_test(a_proto_field_longer_than_its_message_fails_the_cursor),
        cmocka_unit_test(a_status_of_a_debug_build_knows_where_it_was_made),
        cmocka_unit_test(a_proto_that_was_written_is_read_back),
        cmocka_unit_test(a_proto_that_is_full_stays_failed),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
