// Words in place of names: in texts, in programs, in events.
#define _GNU_SOURCE
#include "pack_help.h"

#include "key/key.h"
#include "pack/journal.h"
#include "pack/program.h"
#include "read/read.h"

static names_t names;

static int begin(void **state) {
    (void)state;
    names_initialize(&names);
    return 0;
}

static int end(void **state) {
    (void)state;
    names_deinitialize(&names);
    return 0;
}

static const char *word(const char *name) {
    static char out[8][128];
    static int at;
    char *to = out[at++ % 8];
    snprintf(to, 128, "%s", name);
    assert_ok(names_word(&names, keel_str(name), to));
    assert_int_equal(strlen(to), strlen(name));
    return to;
}

// ---- texts -------------------------------------------------------------------------------------

static void a_name_has_one_word(void **state) {
    (void)state;
    const char *step = word("jit_step"), *other = word("jit_loss");
    assert_string_not_equal(step, "jit_step");
    assert_string_not_equal(step, other);
    assert_string_equal(word("jit_step"), step);
}

static void what_kind_of_name_it_is_stays(void **state) {
    (void)state;
    const char *file = word("/home/u/train.py");
    assert_int_equal(*file, '/');
    assert_non_null(strstr(file, ".py"));
    assert_null(strstr(file, "train"));
    assert_null(strchr(file + 1, '/'));
    const char *numbered = word("IrToHlo.123"), *stem = word("IrToHlo");
    assert_string_equal(numbered + 7, ".123");
    assert_memory_equal(numbered, stem, 7);
    assert_string_equal(word("<module>"), "<module>");
    assert_int_equal(*word("<cell>:0"), '<');
}

static void short_names_get_short_words_until_there_are_none(void **state) {
    (void)state;
    char name[2] = "A", used[128] = "";
    size_t got = 0;
    keel_status_t status = NULL;
    for (int c = 33; c < 127 && !status; ++c) {
        if (c == '/' || c == '<') continue;
        char out = *name = (char)c;
        status = names_word(&names, keel_str(name), &out);
        if (status) break;
        assert_null(strchr(used, out));
        used[got++] = out;
    }
    assert_int_equal(got, 26);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    keel_status_ignore(status);
}

static void words_that_stay_are_not_given_to_names(void **state) {
    (void)state;
    assert_ok(names_keep(&names, KEEL_STR("n00")));
    assert_ok(names_keep(&names, KEEL_STR("n000")));
    assert_true(names_keeps(&names, KEEL_STR("n000")));
    assert_string_not_equal(word("wxyz"), "n000");
    assert_false(names_keeps(&names, keel_str(word("wxyz"))));
}

static void paths_in_flags_become_words(void **state) {
    (void)state;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(names_put_without_paths(
        &names, KEEL_STR("--xla_a=true --xla_dump_to=/home/u/dump --xla_b=2"), &out));
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(strstr(text, "--xla_a=true --xla_dump_to=/n"));
    assert_non_null(strstr(text, " --xla_b=2"));
    assert_null(strstr(text, "home"));
    keel_buffer_deinitialize(&out);
}

// ---- programs ----------------------------------------------------------------------------------

typedef struct seen_t {
    size_t stripped;
} seen_t;

static keel_status_t program_of(keel_bytes_t bytes, bool is_hlo, keel_program_t *out) {
    return is_hlo ? keel_read_hlo(bytes, out) : keel_read_mlir(bytes, out);
}

// No place of an operation is what it was.
static void assert_no_places(keel_bytes_t before, keel_bytes_t after, const char *name) {
    keel_program_t program;
    keel_frame_t frames[16];
    assert_ok(keel_read(before, &program));
    for (keel_op_id_t op = 0; op < keel_program_op_count(&program); ++op) {
        uint32_t count =
            keel_program_frames(&program, program.operations.data[op].location, frames, 16, NULL);
        for (uint32_t i = 0; i < count && i < 16; ++i)
            if (frames[i].file.size > 8 &&
                memmem(after.data, after.size, frames[i].file.data, frames[i].file.size))
                fail_msg("%s still has %.*s", name, KEEL_STR_ARGS(frames[i].file));
    }
    keel_program_deinitialize(&program);
}

static keel_status_t strip_one(void *context, const char *name) {
    seen_t *seen = context;
    bool is_hlo = strstr(name, ".hlo");
    char path[128];
    uint8_t *bytes, *whole;
    size_t size;
    keel_digest_t key, now;
    keel_program_t program;
    if (!is_hlo && !strstr(name, ".mlir")) return NULL;
    snprintf(path, sizeof path, "%s/%.100s", is_hlo ? "hlo" : "mlir", name);
    pack_sample(path, &whole, &size);
    keel_status_t status = program_of(keel_bytes(whole, size), is_hlo, &program);
    bool is_read = !status;
    keel_status_ignore(status);
    if (is_read) {
        assert_ok(keel_key_program(&program, &key));
        keel_program_deinitialize(&program);
        assert_ok(keel_bytes_dup(keel_bytes(whole, size), &bytes));
        status = program_strip(&names, bytes, size, is_hlo);
        if (status) fail_msg("%s: %s", name, keel_status_message(status));
        assert_ok(program_of(keel_bytes(bytes, size), is_hlo, &program));
        assert_ok(keel_key_program(&program, &now));
        keel_program_deinitialize(&program);
        assert_true(keel_digest_equal(&key, &now));
        assert_no_places(keel_bytes(whole, size), keel_bytes(bytes, size), name);
        ++seen->stripped;
        keel_free(bytes);
    }
    keel_free(whole);
    return NULL;
}

static void each_sample_without_names_has_its_key(void **state) {
    (void)state;
    seen_t seen = {0};
    assert_ok(keel_directory_walk(KEEL_TEST_SAMPLES "/mlir", strip_one, &seen));
    assert_ok(keel_directory_walk(KEEL_TEST_SAMPLES "/hlo", strip_one, &seen));
    assert_true(seen.stripped > 15);
}

static void what_is_no_program_is_not_stripped(void **state) {
    (void)state;
    uint8_t bytes[] = "ML\xefR and nothing else";
    keel_status_t status = program_strip(&names, bytes, sizeof bytes - 1, false);
    assert_non_null(status);
    keel_status_ignore(status);
    assert_memory_equal(bytes, "ML\xefR and nothing else", sizeof bytes - 1);
}

// ---- events ------------------------------------------------------------------------------------

static const char *strip(const char *lines, bool without_names, keel_buffer_t *out) {
    static const keel_digest_t moved = {{0xab}};
    const keel_pack_settings_t settings = {.without_names = without_names, .without_sources = true};
    keel_map_t map;
    keel_map_initialize(&map);
    const char *digests[] = {"1111111111111111111111111111111111111111111111111111111111111111",
                             "2222222222222222222222222222222222222222222222222222222222222222"};
    for (int i = 0; i < 2; ++i) // both are one program now
        assert_ok(keel_map_put(&map, keel_str_bytes(keel_str(digests[i])), 0));
    const journal_strip_t strip = {.settings = &settings,
                                   .names = &names,
                                   .moved = &map,
                                   .digests = &moved,
                                   .journal_bytes = 77};
    keel_buffer_initialize(out, 0);
    assert_ok(journal_strip(&strip, keel_str_bytes(keel_str(lines)), out));
    keel_map_deinitialize(&map);
    return keel_buffer_cstr(out);
}

static void events_keep_figures_and_lose_names(void **state) {
    (void)state;
    keel_buffer_t out;
    assert_ok(names_keep(&names, KEEL_STR("multiply")));
    const char *text = strip(
        "{\"event\":\"start\",\"t\":1.5,\"argv\":[\"python\",\"secret.py\"],\"cwd\":\"/secret\","
        "\"host\":\"secret\",\"plugin\":{\"path\":\"/secret/p.so\",\"name\":\"p.so\"},"
        "\"flags\":{\"XLA_FLAGS\":\"--xla_a=1 --xla_dump_to=/secret\"},\"fresh\":\"secret\"}\n"
        "{\"event\":\"explain\",\"name\":\"jit_secret\",\"roots\":[{\"kind\":\"shape\","
        "\"subject\":\"secret\",\"old\":\"f32[8,4]\",\"new\":\"secret text\",\"note\":\"secret\"},"
        "{\"kind\":\"constant\",\"subject\":\"multiply\",\"old\":\"0.1\",\"new\":\"unset\"}]}\n"
        "{\"event\":\"executes\",\"executes\":{"
        "\"1111111111111111111111111111111111111111111111111111111111111111\":3,"
        "\"2222222222222222222222222222222222222222222222222222222222222222\":4,\"other\":1}}\n"
        "{\"event\":\"folders\",\"folders\":[\"/secret\"]}\n"
        "{\"event\":\"covered\",\"bytes\":1,\"asked\":2}\n",
        true, &out);
    assert_null(strstr(text, "secret"));
    assert_null(strstr(text, "folders"));
    assert_non_null(strstr(text, "\"path\":\"p.so\",\"name\":\"p.so\""));
    assert_non_null(strstr(text, "--xla_a=1 --xla_dump_to=/n"));
    assert_non_null(strstr(text, "\"old\":\"f32[8,4]\""));
    assert_non_null(strstr(text, "\"subject\":\"multiply\",\"old\":\"0.1\",\"new\":\"unset\""));
    assert_non_null(
        strstr(text, "\"ab00000000000000000000000000000000000000000000000000000000000000\":7"));
    assert_non_null(strstr(text, "\"other\":1"));
    assert_non_null(strstr(text, "\"bytes\":77,\"asked\":2"));
    keel_buffer_deinitialize(&out);
}

static void without_sources_lines_are_not_quoted(void **state) {
    (void)state;
    keel_buffer_t out;
    const char *text = strip(
        "{\"event\":\"explain\",\"name\":\"jit_f\",\"roots\":[{\"kind\":\"edit\","
        "\"subject\":\"f\",\"old\":\"return a\",\"new\":\"return b\",\"note\":\"line 6\"},"
        "{\"kind\":\"shape\",\"old\":\"f32[8]\",\"new\":\"f32[4]\"}],\"n\":null,\"b\":true}\n",
        false, &out);
    assert_null(strstr(text, "return"));
    assert_non_null(strstr(text, "\"name\":\"jit_f\""));
    assert_non_null(strstr(text, "\"old\":\"f32[8]\",\"new\":\"f32[4]\""));
    assert_non_null(strstr(text, "\"note\":\"line 6\""));
    assert_non_null(strstr(text, "\"n\":null,\"b\":true"));
    keel_buffer_deinitialize(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_has_one_word, begin, end),
        cmocka_unit_test_setup_teardown(what_kind_of_name_it_is_stays, begin, end),
        cmocka_unit_test_setup_teardown(short_names_get_short_words_until_there_are_none, begin,
                                        end),
        cmocka_unit_test_setup_teardown(words_that_stay_are_not_given_to_names, begin, end),
        cmocka_unit_test_setup_teardown(paths_in_flags_become_words, begin, end),
        cmocka_unit_test_setup_teardown(each_sample_without_names_has_its_key, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_program_is_not_stripped, begin, end),
        cmocka_unit_test_setup_teardown(events_keep_figures_and_lose_names, begin, end),
        cmocka_unit_test_setup_teardown(without_sources_lines_are_not_quoted, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
