// What allocates and grows: memory, arenas, buffers and maps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"

static void assert_code(keel_status_t status, keel_code_t code) {
    assert_int_equal(keel_status_code(status), code);
    keel_status_ignore(status);
}

// Sizes that no memory has give NULL under the sanitizers too, instead of ending the process.
KEEL_API const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
KEEL_API const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

// ---- memory -------------------------------------------------------------------------------------

static void memory_of_no_size_may_be_freed(void **state) {
    (void)state;
    void *a = NULL, *b = NULL, *c = NULL;
    assert_null(keel_alloc(0, &a));
    assert_null(keel_calloc(0, 0, &b));
    assert_null(keel_realloc_array(0, 8, &c));
    assert_null(keel_realloc_array(0, 8, &c));
    assert_true(a && b && c);
    keel_free(a);
    keel_free(b);
    keel_free(c);
    keel_free(NULL);
}

static void what_is_too_large_leaves_the_pointer(void **state) {
    (void)state;
    int here;
    void *out = &here;
    assert_code(keel_alloc(SIZE_MAX / 2 + 1, &out), KEEL_NO_MEMORY);
    assert_code(keel_calloc(SIZE_MAX / 2, 4, &out), KEEL_NO_MEMORY);
    assert_ptr_equal(out, &here);
    void *kept = NULL;
    assert_null(keel_realloc_array(2, 4, &kept));
    void *before = kept;
    assert_code(keel_realloc_array(SIZE_MAX / 2 + 1, 4, &kept), KEEL_NO_MEMORY);
    assert_code(keel_realloc_array(SIZE_MAX / 2 + 1, 1, &kept), KEEL_NO_MEMORY);
    assert_ptr_equal(kept, before);
    keel_free(kept);
}

static void bytes_in_use_and_their_peak_are_counted(void **state) {
    (void)state;
    void *a = NULL, *b = NULL;
    assert_null(keel_alloc(100, &a)); // before anyone watches
    keel_memory_watch(true);
    assert_int_equal(keel_memory_in_use(), 0);
    assert_null(keel_alloc(1000, &b));
    size_t one = keel_memory_in_use();
    assert_in_range(one, 1000, 1200);
    void *c = NULL;
    assert_null(keel_calloc(10, 100, &c));
    assert_in_range(keel_memory_in_use(), 2000, 2400);
    assert_int_equal(keel_memory_peak(), keel_memory_in_use());
    assert_null(keel_realloc_array(50, 100, &c));
    assert_in_range(keel_memory_in_use(), 6000, 6400);
    size_t peak = keel_memory_peak();
    assert_int_equal(peak, keel_memory_in_use());
    // What fails changes nothing.
    assert_code(keel_realloc_array(SIZE_MAX / 2 + 1, 1, &c), KEEL_NO_MEMORY);
    assert_int_equal(keel_memory_in_use(), peak);
    keel_free(c);
    assert_int_equal(keel_memory_in_use(), one);
    assert_int_equal(keel_memory_peak(), peak);
    keel_free(b);
    assert_int_equal(keel_memory_in_use(), 0);
    keel_memory_watch(false);
    assert_int_equal(keel_memory_peak(), 0);
    keel_free(a);
    assert_int_equal(keel_memory_in_use(), 0);
    assert_null(keel_alloc(10, &a)); // nobody watches
    assert_int_equal(keel_memory_in_use(), 0);
    keel_memory_watch(true);
    assert_null(keel_alloc(10, &b));
    keel_memory_watch(true); // counts from here
    assert_int_equal(keel_memory_in_use(), 0);
    keel_memory_watch(false);
    keel_free(a);
    keel_free(b);
}

static void a_list_doubles_when_it_is_full(void **state) {
    (void)state;
    size_t capacity = 0;
    void *list = NULL;
    assert_null(keel_grow_array(0, 4, &capacity, &list));
    assert_int_equal(capacity, 32);
    assert_null(keel_grow_array(31, 4, &capacity, &list));
    assert_int_equal(capacity, 32);
    assert_null(keel_grow_array(32, 4, &capacity, &list));
    assert_int_equal(capacity, 64);
    keel_free(list);
}

// Builds with the address sanitizer see who touches what is allocated and not in use.
static bool is_watched(const void *data, size_t at) {
#if KEEL_POISONS
    return __asan_address_is_poisoned((const char *)data + at);
#else
    (void)data, (void)at;
    return true;
#endif
}

static bool is_free_to_use(const void *data, size_t at) {
    return !KEEL_POISONS || !is_watched(data, at);
}

static void what_is_not_in_use_is_poisoned(void **state) {
    (void)state;
    size_t capacity = 0;
    void *list = NULL;
    for (size_t count = 0; count < 40; ++count) {
        assert_null(keel_grow_array(count, 4, &capacity, &list));
        assert_true(is_free_to_use(list, 4 * count + 3));
        if (count % 2) assert_true(is_watched(list, 4 * count + 4));
    }
    keel_free(list);
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    for (size_t size = 1; size <= 200; ++size) {
        keel_buffer_byte(&buffer, 'x');
        assert_true(is_free_to_use(buffer.data, size));
        assert_true(is_watched(buffer.data, size + 1));
    }
    keel_buffer_deinitialize(&buffer);
    keel_arena_t arena;
    void *piece;
    keel_arena_initialize(&arena, 0);
    assert_null(keel_arena_alloc(&arena, 24, &piece));
    assert_true(is_free_to_use(piece, 23));
    assert_true(is_watched(piece, 24));
    keel_arena_deinitialize(&arena);
}

static void copies_end_with_a_zero_byte(void **state) {
    (void)state;
    for (size_t size = 0; size <= 24; size += 8) {
        // Memory that was used before, so that the zero is not there by chance.
        void *dirty = NULL;
        assert_null(keel_alloc(size + 1, &dirty));
        memset(dirty, 'x', size + 1);
        keel_free(dirty);
        char *text = NULL;
        assert_null(keel_strdup((keel_str_t){"123456789012345678901234", size}, &text));
        assert_int_equal(strlen(text), size);
        assert_memory_equal(text, "123456789012345678901234", size);
        keel_free(text);
    }
    uint8_t *bytes = NULL;
    assert_null(keel_bytes_dup(keel_bytes("a\0b", 3), &bytes));
    assert_memory_equal(bytes, "a\0b", 3);
    keel_free(bytes);
    assert_null(keel_bytes_dup(keel_bytes(NULL, 0), &bytes));
    keel_free(bytes);
}

// ---- arenas -------------------------------------------------------------------------------------

static void an_arena_fills_a_block_before_it_takes_the_next(void **state) {
    (void)state;
    enum { PIECE = 8 + KEEL_ARENA_GAP, FIRST = 8 * PIECE };
    keel_arena_t arena;
    keel_arena_initialize(&arena, FIRST);
    uint8_t *items[8];
    for (size_t i = 0; i < 8; ++i) {
        void *item = NULL;
        assert_null(keel_arena_alloc(&arena, 5, &item));
        items[i] = item;
        if (i) assert_ptr_equal(items[i], items[i - 1] + PIECE);
    }
    assert_int_equal(arena.next_size, 2 * FIRST);
    // The next block has room for this, 8 more bytes and no others.
    enum { MOST = 2 * FIRST - PIECE - KEEL_ARENA_GAP };
    void *next = NULL;
    assert_null(keel_arena_alloc(&arena, MOST, &next));
    assert_int_equal((uintptr_t)next % 8, 0);
    assert_int_equal(arena.next_size, 4 * FIRST);
    void *last = NULL;
    assert_null(keel_arena_alloc(&arena, 8, &last));
    assert_ptr_equal(last, (uint8_t *)next + MOST + KEEL_ARENA_GAP);
    assert_int_equal(arena.next_size, 4 * FIRST);
    keel_arena_deinitialize(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.used, 0);
}

static void an_arenas_blocks_grow_to_a_mebibyte(void **state) {
    (void)state;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    assert_int_equal(arena.next_size, 4096);
    for (size_t i = 0; i < 12; ++i) {
        void *item = NULL;
        size_t size = arena.next_size;
        assert_null(keel_arena_alloc(&arena, size, &item));
        memset(item, 1, size);
    }
    assert_int_equal(arena.next_size, 1 << 20);
    // What is larger has a block of its own.
    void *large = NULL;
    assert_null(keel_arena_alloc(&arena, 3 << 20, &large));
    memset(large, 1, 3 << 20);
    keel_arena_deinitialize(&arena);
}

static void an_arena_refuses_sizes_that_no_memory_has(void **state) {
    (void)state;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    void *out = NULL;
    assert_code(keel_arena_alloc(&arena, SIZE_MAX, &out), KEEL_NO_MEMORY);
    assert_code(keel_arena_alloc(&arena, SIZE_MAX - 63, &out), KEEL_NO_MEMORY);
    assert_code(keel_arena_array(&arena, SIZE_MAX / 2, 4, &out), KEEL_NO_MEMORY);
    assert_null(out);
    assert_null(keel_arena_array(&arena, 3, 8, &out));
    void *next = NULL;
    assert_null(keel_arena_alloc(&arena, 1, &next));
    assert_ptr_equal(next, (uint8_t *)out + 24 + KEEL_ARENA_GAP);
    keel_arena_deinitialize(&arena);
}

static void an_arenas_strings_end_with_a_zero_byte(void **state) {
    (void)state;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 256);
    void *dirty = NULL;
    assert_null(keel_arena_alloc(&arena, 256, &dirty));
    memset(dirty, 'x', 256);
    arena.used = 0; // the same memory again
    static const char letters[] = "abcdefgh12345678ABCDEFGH";
    keel_str_t texts[4];
    for (size_t i = 0; i < 4; ++i)
        assert_null(keel_arena_str(&arena, (keel_str_t){letters, 8 * i}, &texts[i]));
    for (size_t i = 0; i < 4; ++i) {
        assert_int_equal(texts[i].size, 8 * i);
        assert_int_equal(strlen(texts[i].data), 8 * i);
        assert_memory_equal(texts[i].data, letters, 8 * i);
    }
    keel_arena_deinitialize(&arena);
}

// ---- buffers ------------------------------------------------------------------------------------

static void a_buffer_doubles_when_its_bytes_and_a_zero_do_not_fit(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    char text[200];
    memset(text, 'a', sizeof text);
    keel_buffer_append(&buffer, text, 63);
    assert_int_equal(buffer.capacity, 64);
    keel_buffer_append(&buffer, text, 1);
    assert_int_equal(buffer.capacity, 128);
    keel_buffer_append(&buffer, text, 63);
    assert_int_equal(buffer.capacity, 128);
    keel_buffer_append(&buffer, text, 1);
    assert_int_equal(buffer.capacity, 256);
    assert_int_equal(strlen(keel_buffer_cstr(&buffer)), 128);
    keel_buffer_deinitialize(&buffer);
    assert_int_equal(buffer.capacity, 0);
    assert_string_equal(keel_buffer_cstr(&buffer), "");
    // One large part takes as much at once.
    keel_buffer_append(&buffer, text, 200);
    assert_int_equal(buffer.capacity, 256);
    keel_buffer_deinitialize(&buffer);
}

static void formatted_text_of_any_length_is_whole(void **state) {
    (void)state;
    static const int lengths[] = {0, 1, 254, 255, 256, 257, 5000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        keel_buffer_t buffer;
        keel_buffer_initialize(&buffer, 0);
        keel_buffer_text(&buffer, "<");
        for (int times = 0; times < 2; ++times)
            keel_buffer_format(&buffer, "%*s", lengths[i], lengths[i] ? "b" : "");
        keel_buffer_text(&buffer, ">");
        assert_null(keel_buffer_status(&buffer));
        size_t length = (size_t)lengths[i];
        assert_int_equal(buffer.size, 2 * length + 2);
        const char *text = keel_buffer_cstr(&buffer);
        assert_int_equal(strlen(text), buffer.size);
        for (size_t at = 1; at <= 2 * length; ++at)
            assert_int_equal(text[at], at % length == 0 ? 'b' : ' ');
        assert_int_equal(text[2 * length + 1], '>');
        keel_buffer_deinitialize(&buffer);
    }
    // Beyond the cap, short or long, nothing is added.
    for (int length = 10; length <= 1000; length += 990) {
        keel_buffer_t buffer;
        keel_buffer_initialize(&buffer, 9);
        keel_buffer_format(&buffer, "%*s", length, "");
        assert_true(buffer.failed);
        assert_int_equal(buffer.size, 0);
        assert_code(keel_buffer_status(&buffer), KEEL_NO_MEMORY);
        keel_buffer_deinitialize(&buffer);
    }
}

static void numbers_are_little_endian(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    keel_buffer_u32(&buffer, 0x04030201);
    keel_buffer_u64(&buffer, 0x0c0b0a0908070605);
    assert_int_equal(buffer.size, 12);
    for (size_t i = 0; i < 12; ++i)
        assert_int_equal(buffer.data[i], i + 1);
    keel_cursor_t cursor = keel_cursor(keel_buffer_bytes(&buffer));
    assert_int_equal(keel_cursor_u32(&cursor), 0x04030201);
    assert_int_equal(keel_cursor_u64(&cursor), 0x0c0b0a0908070605);
    keel_buffer_deinitialize(&buffer);
}

static void hex_has_two_digits_a_byte(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 8);
    keel_buffer_text(&buffer, "dirty..");
    buffer.size = 0;
    keel_buffer_hex(&buffer, keel_bytes("\x00\x9a\xff", 3));
    assert_string_equal(keel_buffer_cstr(&buffer), "009aff");
    keel_buffer_byte(&buffer, '!');
    assert_string_equal(keel_buffer_cstr(&buffer), "009aff!");
    keel_buffer_hex(&buffer, keel_bytes("\x01", 1)); // one digit too many
    assert_true(buffer.failed);
    assert_string_equal(keel_buffer_cstr(&buffer), "009aff!");
    keel_buffer_deinitialize(&buffer);
    keel_buffer_initialize(&buffer, 0);
    keel_buffer_hex(&buffer, keel_bytes(NULL, SIZE_MAX / 2 + 1));
    assert_true(buffer.failed);
    keel_buffer_deinitialize(&buffer);
}

static void reserved_room_is_behind_what_is_there(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 100);
    keel_buffer_text(&buffer, "abc");
    uint8_t *room = keel_buffer_reserve(&buffer, 97);
    assert_ptr_equal(room, buffer.data + 3);
    memset(room, 'd', 97);
    buffer.size += 97;
    assert_null(keel_buffer_reserve(&buffer, 1));
    keel_buffer_deinitialize(&buffer);
}

static void bytes_that_are_taken_are_the_callers(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 5);
    uint8_t *data = NULL;
    size_t size = 7;
    // Nothing was put: still a text.
    assert_null(keel_buffer_take(&buffer, &data, &size));
    assert_int_equal(size, 0);
    assert_string_equal((char *)data, "");
    keel_free(data);
    keel_buffer_text(&buffer, "abc");
    assert_null(keel_buffer_take(&buffer, &data, &size));
    assert_int_equal(size, 3);
    assert_string_equal((char *)data, "abc");
    keel_free(data);
    assert_int_equal(buffer.size, 0);
    // It keeps its cap, up to which everything is taken.
    keel_buffer_str(&buffer, (keel_str_t){"123456", 5});
    assert_null(keel_buffer_take(&buffer, &data, &size));
    assert_string_equal((char *)data, "12345");
    keel_free(data);
    keel_buffer_text(&buffer, "123456");
    data = NULL;
    assert_code(keel_buffer_take(&buffer, &data, &size), KEEL_NO_MEMORY);
    assert_null(data);
    keel_buffer_deinitialize(&buffer);
}

static void what_fits_no_more_fails_for_good(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 4);
    keel_buffer_text(&buffer, "ab");
    keel_buffer_text(&buffer, "cde");
    keel_buffer_text(&buffer, "f"); // it would fit
    assert_string_equal(keel_buffer_cstr(&buffer), "ab");
    assert_true(buffer.failed);
    keel_buffer_deinitialize(&buffer);
    assert_false(buffer.failed);
}

// ---- maps ---------------------------------------------------------------------------------------

static void a_map_overwrites_and_adds(void **state) {
    (void)state;
    keel_map_t map;
    keel_map_initialize(&map);
    keel_bytes_t a = keel_bytes("a", 1), b = keel_bytes("b", 1);
    assert_null(keel_map_find(&map, a));
    assert_null(keel_map_put(&map, a, 5));
    assert_null(keel_map_put(&map, a, 6));
    assert_null(keel_map_add(&map, a, 10));
    assert_null(keel_map_add(&map, b, 3));
    assert_int_equal(*keel_map_find(&map, a), 16);
    assert_int_equal(*keel_map_find(&map, b), 3);
    assert_int_equal(map.count, 2);
    // Of a span of no bytes there is one key too.
    assert_null(keel_map_find(&map, keel_bytes(NULL, 0)));
    assert_null(keel_map_put(&map, keel_bytes(NULL, 0), 9));
    assert_int_equal(*keel_map_find(&map, keel_bytes("", 0)), 9);
    keel_map_deinitialize(&map);
    assert_null(keel_map_find(&map, a));
    assert_null(keel_map_put(&map, a, 1));
    assert_int_equal(*keel_map_find(&map, a), 1);
    keel_map_deinitialize(&map);
}

static void a_map_grows_before_a_quarter_of_it_is_left(void **state) {
    (void)state;
    keel_map_t map;
    keel_map_initialize(&map);
    for (uint64_t i = 0; i < 25; ++i) {
        assert_int_equal(map.capacity, i == 0 ? 0 : i <= 12 ? 16 : 32);
        assert_null(keel_map_put(&map, keel_bytes(&i, sizeof i), i));
    }
    assert_int_equal(map.capacity, 64);
    keel_map_deinitialize(&map);
}

static void a_walk_meets_each_pair_once(void **state) {
    (void)state;
    keel_map_t map;
    keel_map_initialize(&map);
    assert_null(keel_map_next(&map, NULL));
    bool met[100] = {false};
    for (uint64_t i = 0; i < 100; ++i)
        assert_null(keel_map_put(&map, keel_bytes(&i, sizeof i), i + 1));
    size_t count = 0;
    for (const keel_map_slot_t *slot = NULL; (slot = keel_map_next(&map, slot)); ++count) {
        uint64_t key = keel_load_u64(slot->key.data);
        assert_int_equal(slot->value, key + 1);
        assert_false(met[key]);
        met[key] = true;
    }
    assert_int_equal(count, 100);
    keel_map_deinitialize(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_no_size_may_be_freed),
        cmocka_unit_test(what_is_too_large_leaves_the_pointer),
        cmocka_unit_test(bytes_in_use_and_their_peak_are_counted),
        cmocka_unit_test(a_list_doubles_when_it_is_full),
        cmocka_unit_test(what_is_not_in_use_is_poisoned),
        cmocka_unit_test(copies_end_with_a_zero_byte),
        cmocka_unit_test(an_arena_fills_a_block_before_it_takes_the_next),
        cmocka_unit_test(an_arenas_blocks_grow_to_a_mebibyte),
        cmocka_unit_test(an_arena_refuses_sizes_that_no_memory_has),
        cmocka_unit_test(an_arenas_strings_end_with_a_zero_byte),
        cmocka_unit_test(a_buffer_doubles_when_its_bytes_and_a_zero_do_not_fit),
        cmocka_unit_test(formatted_text_of_any_length_is_whole),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(hex_has_two_digits_a_byte),
        cmocka_unit_test(reserved_room_is_behind_what_is_there),
        cmocka_unit_test(bytes_that_are_taken_are_the_callers),
        cmocka_unit_test(what_fits_no_more_fails_for_good),
        cmocka_unit_test(a_map_overwrites_and_adds),
        cmocka_unit_test(a_map_grows_before_a_quarter_of_it_is_left),
        cmocka_unit_test(a_walk_meets_each_pair_once),
    };
    return cmocka_run_group_tests_name("base_memory", tests, NULL, NULL);
}
