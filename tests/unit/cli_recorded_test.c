// How a recorded run's client was set up, read back from its journal.
#define _GNU_SOURCE
#include "place.h"

#include <jansson.h>
#include <stdlib.h>

#include "cli/recorded.h"

static cli_recorded_t recorded;

static int begin(void **state) {
    (void)state;
    unsetenv("XLA_FLAGS");
    unsetenv("LIBTPU_INIT_ARGS");
    cli_recorded_initialize(&recorded);
    return 0;
}

static int end(void **state) {
    (void)state;
    cli_recorded_deinitialize(&recorded);
    return 0;
}

static keel_status_t add(const char *event, const char *platform, const char *options) {
    json_t *flags = json_pack("{s:s}", "XLA_FLAGS", "--xla_a=1");
    json_t *start =
        json_pack("{s:s, s:{s:s, s:s}, s:o, s:{s:s}}", "event", event, "plugin", "platform",
                  platform, "path", "/p.so", "flags", flags, "values", "create options", options);
    assert_non_null(start);
    keel_status_t status = cli_recorded_add(&recorded, start, "cuda");
    json_decref(start);
    return status;
}

static const PJRT_NamedValue *option(const char *name) {
    for (size_t i = 0; i < recorded.count; ++i)
        if (keel_str_is((keel_str_t){recorded.options[i].name, recorded.options[i].name_size},
                        name))
            return &recorded.options[i];
    fail_msg("no option %s", name);
    return NULL;
}

static void each_kind_of_option_is_made_again(void **state) {
    (void)state;
    assert_ok(
        add("start", "cuda",
            "a=true\nb=false\nc=\"de\\\"f\\\\\"\nempty=\"\"\nn=-12\nlist=2,4,-1\nf=0x1.8p-1\n"));
    assert_int_equal(recorded.count, 7);
    assert_true(option("a")->type == PJRT_NamedValue_kBool && option("a")->bool_value);
    assert_true(option("b")->type == PJRT_NamedValue_kBool && !option("b")->bool_value);
    assert_int_equal(option("c")->type, PJRT_NamedValue_kString);
    assert_string_equal(option("c")->string_value, "de\"f\\");
    assert_int_equal(option("c")->value_size, 5);
    assert_int_equal(option("empty")->value_size, 0);
    assert_true(option("n")->type == PJRT_NamedValue_kInt64 && option("n")->int64_value == -12);
    assert_true(option("f")->type == PJRT_NamedValue_kFloat && option("f")->float_value == 0.75F);
    assert_int_equal(option("list")->type, PJRT_NamedValue_kInt64List);
    assert_int_equal(option("list")->value_size, 3);
    assert_int_equal(option("list")->int64_array_value[2], -1);
    assert_string_equal(recorded.plugin, "/p.so");
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_a=1");
}

static void other_platforms_and_later_clients_do_not_count(void **state) {
    (void)state;
    assert_ok(add("start", "cpu", "a=1\n"));
    assert_ok(add("compile", "cuda", "b=1\n"));
    assert_int_equal(recorded.count, 0);
    assert_null(getenv("XLA_FLAGS"));
    assert_ok(add("start", "cuda", ""));
    assert_ok(add("start", "cuda", "c=1\n"));
    assert_int_equal(recorded.count, 0);
}

static char build[KEEL_DIGEST_HEX]; // of `here`

// As a journal has it.
static json_t *handler_event(const char *kind, const char *name, const char *platform,
                             const char *library) {
    json_t *event =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:[{}, {}, {}, {s:s, s:i, s:s}]}", "event",
                  "handler", "kind", kind, "name", name, "platform", platform, "api_version", 1,
                  "traits", 2, "places", "library", library, "offset", 64, "build", build);
    assert_non_null(event);
    return event;
}

static void take(json_t *event, const char *platform) {
    assert_ok(cli_recorded_add(&recorded, event, platform));
    json_decref(event);
}

static void add_handler(const char *name, const char *library) {
    take(handler_event("call", name, "Host", library), "cpu");
}

static keel_status_t add_start(const char *python, const char *flags) {
    json_t *start =
        json_pack("{s:s, s:[s], s:{s:s, s:s}, s:{s:s}}", "event", "start", "argv", python, "plugin",
                  "platform", "cpu", "path", "/p.so", "flags", "XLA_FLAGS", flags);
    assert_non_null(start);
    keel_status_t status = cli_recorded_add(&recorded, start, "cpu");
    json_decref(start);
    return status;
}

static char here[4096]; // this program: a file that is there

static void its_python_and_handlers_are_taken(void **state) {
    (void)state;
    char python[4200];
    place_t place;
    place_make(&place);
    snprintf(python, sizeof python, "%s/python3", place.root);
    assert_int_equal(symlink(here, python), 0);
    assert_ok(add_start(python, "--xla_dump_to=/d"));
    add_handler("here", here);
    add_handler("here", here); // once
    assert_string_equal(recorded.python, python);
    assert_string_equal(recorded.plugin, "/p.so");
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_dump_to=/d");
    assert_int_equal(recorded.handler_count, 1);
    const keel_handler_t *handler = &recorded.handlers[0].handler;
    assert_string_equal(handler->name, "here");
    assert_int_equal(handler->api_version, 1);
    assert_int_equal(handler->traits, 2);
    assert_null(handler->places[0].library);
    assert_string_equal(handler->places[KEEL_HANDLER_EXECUTE].library, here);
    assert_int_equal(handler->places[KEEL_HANDLER_EXECUTE].offset, 64);
    // CompileOptionsProto {executable_build_options {debug_options {xla_dump_to: "d"}}}
    static const char dumps[] = "\x1a\x06\x1a\x04\xea\x06\x01"
                                "d";
    assert_ok(cli_recorded_check_options(&recorded, keel_bytes(dumps, sizeof dumps - 1)));
    place_remove(&place);
}

static void handlers_of_other_platforms_are_not_taken(void **state) {
    (void)state;
    take(handler_event("call", "ours", "CUDA", here), "cuda");
    take(handler_event("type", "ours", "CUDA", here), "cuda");
    take(handler_event("call", "ours", "Host", here), "cuda");
    take(handler_event("call", "ours", "CUDA", here), "cpu");
    assert_int_equal(recorded.handler_count, 2);
    assert_int_equal(recorded.handlers[1].handler.kind, KEEL_HANDLER_TYPE);
}

// Each costs one handler, and those around it are taken.
static void a_handler_with_a_bad_field_is_not_taken(void **state) {
    (void)state;
    static const struct {
        const char *field, *value; // JSON
    } bad[] = {
        {"kind", "\"kernel\""},
        {"kind", "1"},
        {"name", "\"\""},
        {"name", "null"},
        {"platform", "null"},
        {"api_version", "4294967297"},
        {"traits", "4294967296"},
        {"places", "null"},
        {"places", "[]"},
        {"places", "[{}, {}, {}, {}]"},
        {"places", "[1, \"a\"]"},
        {"places", "[{\"library\": \"/l.so\", \"offset\": 64}]"},
        {"places", "[{\"library\": \"/l.so\", \"offset\": 64, \"build\": \"00\"}]"},
        {"places", "[{\"library\": \"/l.so\", \"offset\": -1, \"build\": \"<\"}]"},
        {"places", "[{\"library\": \"/l.so\", \"build\": \"<\"}]"},
        {"places", "[{}, {}, {}, {}, {\"library\": \"/l.so\", \"offset\": 1, \"build\": \"<\"}]"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        char text[400], *hole;
        snprintf(text, sizeof text, "%s", bad[i].value);
        if ((hole = strchr(text, '<')))
            snprintf(hole, sizeof text - (size_t)(hole - text), "%s%s", build,
                     strchr(bad[i].value, '<') + 1);
        json_t *event = handler_event("call", "bad", "Host", here);
        json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        json_object_set_new(event, bad[i].field, value);
        take(event, "cpu");
        if (recorded.handler_count != i) fail_msg("%s: %s is taken", bad[i].field, text);
        char name[16];
        snprintf(name, sizeof name, "good%zu", i);
        add_handler(name, here);
        assert_int_equal(recorded.handler_count, i + 1);
    }
}

// ---- which are registered ----------------------------------------------------------------------

static size_t register_all(char *said, size_t size) {
    keel_settings_t settings = {0};
    settings.values[KEEL_SETTING_CACHE_DIR].text = (char[]){""};
    size_t before = keel_handler_count();
    int own = dup(STDERR_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    keel_status_t status = cli_recorded_add_handlers(&recorded, &settings);
    dup2(own, STDERR_FILENO);
    close(own);
    assert_ok(status);
    ssize_t length = read(ends[0], said, size - 1);
    said[length > 0 ? length : 0] = 0;
    close(ends[0]);
    return keel_handler_count() - before;
}

static void assert_lines(const char *text, unsigned count) {
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); ++at)
        ++lines;
    if (lines != count) fail_msg("%u lines: %s", lines, text);
}

static void handlers_of_the_same_library_are_registered(void **state) {
    (void)state;
    char said[2000];
    add_handler("first", here);
    add_handler("second", here);
    assert_int_equal(register_all(said, sizeof said), 2);
    assert_string_equal(said, "");
    const keel_handler_t *last = keel_handler_at(keel_handler_count() - 1);
    assert_string_equal(last->name, "second");
    assert_int_equal(last->places[KEEL_HANDLER_EXECUTE].offset, 64);
}

static void a_library_that_changed_or_is_gone_is_named(void **state) {
    (void)state;
    char said[2000], wanted[5000];
    add_handler("third", here);
    add_handler("gone", "/nowhere/library.so");
    char own[KEEL_DIGEST_HEX];
    memcpy(own, build, sizeof own);
    memset(build, '0', KEEL_DIGEST_HEX - 1);
    add_handler("older", here);
    add_handler("oldest", here);
    add_handler("third", here); // of another host: this one's is registered
    memcpy(build, own, sizeof own);
    assert_int_equal(register_all(said, sizeof said), 1);
    assert_string_equal(keel_handler_at(keel_handler_count() - 1)->name, "third");
    assert_lines(said, 2);
    snprintf(wanted, sizeof wanted,
             "%s has changed since the run, so programs that call older and 1 more do not", here);
    assert_non_null(strstr(said, wanted));
    assert_non_null(
        strstr(said, "/nowhere/library.so is gone, so programs that call gone do not compile"));
}

static void of_a_pack_nothing_is_used_that_names_a_file(void **state) {
    (void)state;
    recorded.is_foreign = true;
    assert_ok(add_start(here, "--xla_dump_to=/d"));
    add_handler("here", here);
    assert_true(recorded.is_known);
    assert_null(recorded.python);
    assert_null(recorded.plugin);
    assert_null(getenv("XLA_FLAGS"));
    assert_int_equal(recorded.handler_count, 0);
    static const char dumps[] = "\x1a\x06\x1a\x04\xea\x06\x01"
                                "d";
    keel_status_t status =
        cli_recorded_check_options(&recorded, keel_bytes(dumps, sizeof dumps - 1));
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    assert_non_null(strstr(keel_status_message(status), "xla_dump_to"));
    keel_status_ignore(status);
    assert_ok(cli_recorded_check_options(&recorded, keel_bytes("\x1a\x00", 2)));
}

static void of_a_pack_other_flags_are_used(void **state) {
    (void)state;
    recorded.is_foreign = true;
    assert_ok(add_start(here, "--xla_a=1"));
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_a=1");
}

static void the_environments_own_flags_stay(void **state) {
    (void)state;
    setenv("XLA_FLAGS", "--xla_b=2", 1);
    assert_ok(add("start", "cuda", ""));
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_b=2");
}

static void what_cannot_be_made_again_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"a",       "a=",    "a=bytes 00ff", "a=0x1p+0z",
                                        "a=\"b",   "a=\"",  "a=1,",         "a=1,b",
                                        "a=true ", "a=1 2", "a=\"\\\""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        keel_status_t status = add("start", "cuda", texts[i]);
        if (keel_status_code(status) != KEEL_UNSUPPORTED) fail_msg("%s is taken", texts[i]);
        keel_status_ignore(status);
        end(NULL);
        begin(NULL);
    }
}

static void a_number_is_set_in_place_of_another(void **state) {
    (void)state;
    assert_ok(cli_recorded_set_number(&recorded, "cpu_device_count", 4));
    assert_int_equal(option("cpu_device_count")->int64_value, 4);
    assert_ok(cli_recorded_set_number(&recorded, "cpu_device_count", 8));
    assert_int_equal(recorded.count, 1);
    assert_int_equal(option("cpu_device_count")->int64_value, 8);
}

int main(void) {
#define RECORDED(test) cmocka_unit_test_setup_teardown(test, begin, end)
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    keel_digest_t digest;
    if (length < 0 || keel_key_plugin_build(here, NULL, &digest)) return 1;
    keel_digest_hex(&digest, build);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(its_python_and_handlers_are_taken, begin, end),
        cmocka_unit_test_setup_teardown(of_a_pack_nothing_is_used_that_names_a_file, begin, end),
        cmocka_unit_test_setup_teardown(of_a_pack_other_flags_are_used, begin, end),
        RECORDED(each_kind_of_option_is_made_again),
        RECORDED(handlers_of_other_platforms_are_not_taken),
        RECORDED(a_handler_with_a_bad_field_is_not_taken),
        RECORDED(handlers_of_the_same_library_are_registered),
        RECORDED(a_library_that_changed_or_is_gone_is_named),
        RECORDED(other_platforms_and_later_clients_do_not_count),
        RECORDED(the_environments_own_flags_stay),
        RECORDED(what_cannot_be_made_again_is_refused),
        RECORDED(a_number_is_set_in_place_of_another),
    };
    return cmocka_run_group_tests_name("recorded clients", tests, NULL, NULL);
}
