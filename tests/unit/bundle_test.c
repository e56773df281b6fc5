// Bundles: what they contain, reading them back, and comparing two.
#define _GNU_SOURCE
#include "place.h"

#include <jansson.h>

#include "bundle/bundle.h"
#include "bundle/versions.h"
#include "key/key.h"

// ---- help --------------------------------------------------------------------------------------

typedef struct stage_t {
    place_t place;
    char python[300], site[320];
} stage_t;

static void put_file(const stage_t *stage, const char *name, const char *text) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", stage->site, name);
    char *slash = strrchr(path, '/');
    *slash = 0;
    assert_ok(keel_directory_make(path));
    *slash = '/';
    write_bytes(path, text, strlen(text));
}

static void put_package(const stage_t *stage, const char *folder) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", stage->site, folder);
    assert_ok(keel_directory_make(path));
}

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    char path[700];
    place_make(&stage->place);
    snprintf(stage->python, sizeof stage->python, "%s/bin/python", stage->place.root);
    snprintf(stage->site, sizeof stage->site, "%s/lib/python3.12/site-packages", stage->place.root);
    snprintf(path, sizeof path, "%s/bin", stage->place.root);
    assert_ok(keel_directory_make(path));
    assert_ok(keel_directory_make(stage->site));
    write_bytes(stage->python, "", 0);
    snprintf(path, sizeof path, "%s/pyvenv.cfg", stage->place.root);
    write_bytes(path, "version = 3.12.4\n", 17);
    unsetenv("PYTHONPATH");
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    place_remove(&stage->place);
    free(stage);
    return 0;
}

static void collect(const stage_t *stage, keel_bundle_t *out) {
    keel_bundle_initialize(out);
    keel_bundle_collect(&(keel_bundle_request_t){.interpreter = stage->python}, out);
    assert_ok(keel_bundle_status(out));
}

static void put(keel_bundle_t *bundle, keel_bundle_section_t section, const char *name,
                const char *value) {
    keel_bundle_add(bundle, section, keel_str(name), keel_str(value));
    assert_ok(keel_bundle_status(bundle));
}

static size_t count_in(const keel_bundle_t *bundle, keel_bundle_section_t section) {
    size_t count = 0;
    for (size_t i = 0; i < bundle->count; ++i)
        count += bundle->facts[i].section == section;
    return count;
}

static void assert_fact(const keel_bundle_t *bundle, keel_bundle_section_t section,
                        const char *name, const char *value) {
    const char *found = keel_bundle_find(bundle, section, name);
    if (!found) fail_msg("no %s", name);
    assert_string_equal(found, value);
}

static void assert_read_back(const keel_bundle_t *bundle) {
    keel_buffer_t json;
    keel_bundle_t again;
    keel_buffer_initialize(&json, KEEL_BUNDLE_JSON_LIMIT);
    keel_bundle_initialize(&again);
    keel_bundle_json(bundle, &json);
    assert_ok(keel_buffer_status(&json));
    assert_ok(keel_bundle_parse(keel_buffer_bytes(&json), &again));
    assert_int_equal(again.count, bundle->count);
    assert_int_equal(again.left_out, bundle->left_out);
    for (size_t i = 0; i < bundle->count; ++i) {
        assert_int_equal(again.facts[i].section, bundle->facts[i].section);
        assert_string_equal(again.facts[i].name, bundle->facts[i].name);
        assert_string_equal(again.facts[i].value, bundle->facts[i].value);
    }
    keel_bundle_deinitialize(&again);
    keel_buffer_deinitialize(&json);
}

// ---- what gets in ------------------------------------------------------------------------------

static void test_a_bundle_is_read_back_as_it_was(void **state) {
    (void)state;
    keel_bundle_t bundle;
    keel_bundle_initialize(&bundle);
    put(&bundle, KEEL_BUNDLE_SYSTEM, "control", "a\nb\x7f\xc2\x9b\"\\");
    put(&bundle, KEEL_BUNDLE_FLAGS, "z", "");
    put(&bundle, KEEL_BUNDLE_FLAGS, "not UTF-8 \xff", "\xc3(");
    put(&bundle, KEEL_BUNDLE_FLAGS, "a", "1");
    put(&bundle, KEEL_BUNDLE_FLAGS, "a", "the second one of a name goes");
    assert_int_equal(bundle.count, 4);
    assert_fact(&bundle, KEEL_BUNDLE_FLAGS, "a", "1");
    assert_fact(&bundle, KEEL_BUNDLE_FLAGS, "not UTF-8 ?", "?(");
    assert_fact(&bundle, KEEL_BUNDLE_SYSTEM, "control", "a b??\"\\");
    assert_read_back(&bundle);
    keel_bundle_deinitialize(&bundle);
}

static void test_a_bundle_stays_below_its_limit_whatever_is_added(void **state) {
    (void)state;
    enum { LENGTH = 3000 };
    char text[LENGTH + 1], name[32];
    keel_bundle_t bundle;
    keel_bundle_initialize(&bundle);
    memset(text, 1, LENGTH);
    text[LENGTH] = 0;
    for (int i = 0; i < 10000; ++i) {
        snprintf(name, sizeof name, "%d", i);
        put(&bundle, KEEL_BUNDLE_PACKAGES, name, i % 2 ? text : "1");
    }
    assert_true(bundle.left_out > 0);
    assert_read_back(&bundle);
    keel_bundle_deinitialize(&bundle);
}

static void test_a_thousand_packages_are_told(void **state) {
    stage_t *stage = *state;
    keel_bundle_t bundle;
    char name[64];
    for (int i = 0; i < 1000; ++i) {
        snprintf(name, sizeof name, "package_%d-1.%d.dist-info", i, i);
        put_package(stage, name);
    }
    collect(stage, &bundle);
    assert_int_equal(count_in(&bundle, KEEL_BUNDLE_PACKAGES), 1000);
    assert_fact(&bundle, KEEL_BUNDLE_PACKAGES, "package-7", "1.7");
    assert_read_back(&bundle);
    keel_bundle_deinitialize(&bundle);
}

static void test_what_cannot_be_read_is_left_out(void **state) {
    stage_t *stage = *state;
    keel_bundle_t bundle;
    put_package(stage, "jax-0.12.0.dist-info");
    put_package(stage, "torch_xla-2.9.0+cu.dist-info");
    put_file(stage, "broken.egg-info", "a file\nVersion: 3\n");
    put_package(stage, ".dist-info");
    put_package(stage, "-1.dist-info");
    collect(stage, &bundle);
    assert_fact(&bundle, KEEL_BUNDLE_INTERPRETER, "version", "3.12.4");
    assert_fact(&bundle, KEEL_BUNDLE_CLIENTS, "jax", "0.12.0");
    assert_fact(&bundle, KEEL_BUNDLE_CLIENTS, "torch-xla", "2.9.0+cu");
    assert_fact(&bundle, KEEL_BUNDLE_PACKAGES, "broken", "");
    assert_int_equal(count_in(&bundle, KEEL_BUNDLE_CLIENTS), 2);
    assert_int_equal(count_in(&bundle, KEEL_BUNDLE_PACKAGES), 1);
    keel_bundle_deinitialize(&bundle);
}

// Environments of conda have no pyvenv.cfg, and one of virtualenv need not tell a version.
static void test_the_folder_of_packages_tells_the_version_if_nothing_else_does(void **state) {
    stage_t *stage = *state;
    keel_bundle_t bundle;
    char path[700];
    snprintf(path, sizeof path, "%s/pyvenv.cfg", stage->place.root);
    write_bytes(path, "home = /usr/bin\n", 16);
    put_package(stage, "jax-0.12.0.dist-info");
    collect(stage, &bundle);
    assert_fact(&bundle, KEEL_BUNDLE_INTERPRETER, "version", "3.12");
    assert_fact(&bundle, KEEL_BUNDLE_CLIENTS, "jax", "0.12.0");
    keel_bundle_deinitialize(&bundle);
}

static void test_packages_of_another_python_beside_it_do_not_count(void **state) {
    stage_t *stage = *state;
    keel_bundle_t bundle;
    static const char *const others[] = {"python3.1", "python3.11", "python3.120", "python3.13"};
    put_package(stage, "jax-0.12.0.dist-info");
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        snprintf(stage->site, sizeof stage->site, "%s/lib/%s/site-packages", stage->place.root,
                 others[i]);
        put_package(stage, "jaxlib-0.11.0.dist-info");
    }
    collect(stage, &bundle);
    assert_int_equal(count_in(&bundle, KEEL_BUNDLE_CLIENTS), 1);
    assert_fact(&bundle, KEEL_BUNDLE_CLIENTS, "jax", "0.12.0");
    keel_bundle_deinitialize(&bundle);
}

static void test_an_interpreter_that_is_not_there_leaves_packages_unknown(void **state) {
    stage_t *stage = *state;
    keel_bundle_t bundle;
    snprintf(stage->python, sizeof stage->python, "%s/no/where/python", stage->place.root);
    collect(stage, &bundle);
    assert_false(bundle.known[KEEL_BUNDLE_PACKAGES]);
    assert_true(bundle.known[KEEL_BUNDLE_SYSTEM]);
    keel_bundle_deinitialize(&bundle);
}

static void test_a_plugin_is_told_by_its_file(void **state) {
    stage_t *stage = *state;
    keel_bundle_t bundle;
    keel_digest_t build = keel_digest(keel_bytes("a build", 7)), content;
    char path[700], hex[KEEL_DIGEST_HEX];
    snprintf(path, sizeof path, "%s/plugin.so", stage->place.root);
    write_bytes(path, "a plugin", 8);
    keel_bundle_initialize(&bundle);
    keel_bundle_plugin_file(path, &build, NULL, &bundle);
    assert_fact(&bundle, KEEL_BUNDLE_PLUGIN, "path", path);
    assert_fact(&bundle, KEEL_BUNDLE_PLUGIN, "size", "8");
    keel_digest_hex(&build, hex);
    assert_fact(&bundle, KEEL_BUNDLE_PLUGIN, "build", hex);
    keel_bundle_deinitialize(&bundle);
    // Without a digest that is known already, from the file.
    keel_bundle_initialize(&bundle);
    keel_bundle_plugin_file(path, NULL, NULL, &bundle);
    assert_ok(keel_key_plugin_build(path, NULL, &content));
    keel_digest_hex(&content, hex);
    assert_fact(&bundle, KEEL_BUNDLE_PLUGIN, "build", hex);
    assert_int_equal(count_in(&bundle, KEEL_BUNDLE_PLUGIN), 3);
    keel_bundle_deinitialize(&bundle);
}

static void test_of_a_plugin_that_is_not_there_only_its_path_is_told(void **state) {
    stage_t *stage = *state;
    keel_bundle_t bundle;
    char path[700];
    snprintf(path, sizeof path, "%s/none.so", stage->place.root);
    keel_bundle_initialize(&bundle);
    keel_bundle_plugin_file(path, NULL, NULL, &bundle);
    assert_fact(&bundle, KEEL_BUNDLE_PLUGIN, "path", path);
    assert_int_equal(count_in(&bundle, KEEL_BUNDLE_PLUGIN), 1);
    keel_bundle_deinitialize(&bundle);
}

static void test_secrets_do_not_get_in(void **state) {
    stage_t *stage = *state;
    static const char *const names[] = {"KEEL_API_TOKEN", "JAX_secret_x",    "PJRT_KEY_FILE",
                                        "XLA_Password",   "TPU_CREDENTIALS", "TPU_AUTH",
                                        "PJRT_PWD",       "XLA_BEARER",      "JAX_PASSPHRASE"};
    static const char *const values[] = {
        "https://host/x?a=b&access_token=hidden", "https://host/x?X-Amz-Signature=hidden",
        "https://host/?sv=1&sig=hidden", "Authorization: Bearer hidden", "a=1,api_key=hidden"};
    keel_bundle_t bundle;
    keel_buffer_t json;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        setenv(names[i], "hidden", 1);
    setenv("JAX_COORDINATOR", "grpc://ada:hidden@host:1", 1);
    setenv("TPU_NAME", "http://host/a@b?design=1", 1);
    setenv("OTHER", "hidden", 1);
    setenv("XLA_FLAGS", "--xla_cloud_token=hidden --xla_to=s3://ada:hidden@host --xla_keys=4", 1);
    collect(stage, &bundle);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        assert_fact(&bundle, KEEL_BUNDLE_ENVIRONMENT, names[i], "***");
        unsetenv(names[i]);
    }
    assert_fact(&bundle, KEEL_BUNDLE_ENVIRONMENT, "JAX_COORDINATOR", "***");
    assert_fact(&bundle, KEEL_BUNDLE_ENVIRONMENT, "TPU_NAME", "http://host/a@b?design=1");
    assert_fact(&bundle, KEEL_BUNDLE_FLAGS, "XLA_FLAGS xla_cloud_token", "***");
    assert_fact(&bundle, KEEL_BUNDLE_FLAGS, "XLA_FLAGS xla_to", "***");
    assert_fact(&bundle, KEEL_BUNDLE_FLAGS, "XLA_FLAGS xla_keys", "4");
    assert_null(keel_bundle_find(&bundle, KEEL_BUNDLE_ENVIRONMENT, "OTHER"));
    keel_buffer_initialize(&json, 0);
    keel_bundle_json(&bundle, &json);
    assert_null(strstr(keel_buffer_cstr(&json), "hidden"));
    keel_buffer_deinitialize(&json);
    keel_bundle_deinitialize(&bundle);
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        setenv("JAX_COORDINATOR", values[i], 1);
        collect(stage, &bundle);
        assert_fact(&bundle, KEEL_BUNDLE_ENVIRONMENT, "JAX_COORDINATOR", "***");
        keel_bundle_deinitialize(&bundle);
    }
    unsetenv("XLA_FLAGS");
    unsetenv("JAX_COORDINATOR");
    unsetenv("TPU_NAME");
    unsetenv("OTHER");
}

// ---- versions ----------------------------------------------------------------------------------

static keel_bundle_support_t judge(const char *jax) {
    keel_bundle_t bundle;
    keel_bundle_verdict_t verdict;
    keel_bundle_initialize(&bundle);
    put(&bundle, KEEL_BUNDLE_CLIENTS, "jax", jax);
    keel_bundle_judge_client(&bundle, 0, &verdict);
    keel_bundle_deinitialize(&bundle);
    return verdict.support;
}

static void test_versions_count_by_as_many_numbers_as_the_bound_has(void **state) {
    (void)state;
    assert_int_equal(judge("0.7.0"), KEEL_BUNDLE_TRIED);
    assert_int_equal(judge("0.12.99.1"), KEEL_BUNDLE_TRIED);
    assert_int_equal(judge("0.12"), KEEL_BUNDLE_TRIED);
    assert_int_equal(judge("0.13.0.dev1"), KEEL_BUNDLE_NEWER);
    assert_int_equal(judge("1.0"), KEEL_BUNDLE_NEWER);
    assert_int_equal(judge("0.6.2"), KEEL_BUNDLE_TRIED);
    assert_int_equal(judge("0.6.3"), KEEL_BUNDLE_TRIED);
    assert_int_equal(judge("0.6.1"), KEEL_BUNDLE_OLDER);
    assert_int_equal(judge("0.5.99"), KEEL_BUNDLE_OLDER);
    assert_int_equal(judge("99999999999999999999999.1"), KEEL_BUNDLE_NEWER);
    assert_int_equal(judge(""), KEEL_BUNDLE_UNKNOWN);
    assert_int_equal(judge("main"), KEEL_BUNDLE_UNKNOWN);
}

// ---- comparing ---------------------------------------------------------------------------------

typedef struct sides_t {
    keel_bundle_t old, new;
    keel_bundle_changes_t changes;
} sides_t;

static void begin(sides_t *sides) {
    keel_bundle_initialize(&sides->old);
    keel_bundle_initialize(&sides->new);
}

static void compare(sides_t *sides) {
    assert_ok(keel_bundle_compare(&sides->old, &sides->new, &sides->changes));
}

static void end(sides_t *sides) {
    keel_bundle_changes_deinitialize(&sides->changes);
    keel_bundle_deinitialize(&sides->old);
    keel_bundle_deinitialize(&sides->new);
}

static void put_both(sides_t *sides, keel_bundle_section_t section, const char *name,
                     const char *old, const char *new) {
    if (old) put(&sides->old, section, name, old);
    if (new) put(&sides->new, section, name, new);
}

static void test_what_moves_keys_stands_first(void **state) {
    (void)state;
    sides_t sides;
    begin(&sides);
    put_both(&sides, KEEL_BUNDLE_PACKAGES, "numpy", "1", "2");
    put_both(&sides, KEEL_BUNDLE_CLIENTS, "jax", "1", "2");
    put_both(&sides, KEEL_BUNDLE_SYSTEM, "kernel", "1", "2");
    put_both(&sides, KEEL_BUNDLE_ENVIRONMENT, "TPU_MEGACORE", "1", "2");
    put_both(&sides, KEEL_BUNDLE_ENVIRONMENT, "JAX_ENABLE_X64", "1", "2");
    put_both(&sides, KEEL_BUNDLE_ENVIRONMENT, "JAX_PLATFORMS", "1", "2");
    put_both(&sides, KEEL_BUNDLE_ENVIRONMENT, "XLA_THREAD_POOL_SIZE", "1", "2"); // by `keel run`
    put_both(&sides, KEEL_BUNDLE_KEY, "topology", "1", "2");
    put_both(&sides, KEEL_BUNDLE_STEPS, "reload", "ok", "failed");
    put_both(&sides, KEEL_BUNDLE_PLUGIN, "build", "1", "2");
    put_both(&sides, KEEL_BUNDLE_PLUGIN, "path", "1", "2");
    compare(&sides);
    static const struct {
        keel_bundle_weight_t weight;
        const char *name;
    } expected[] = {{KEEL_BUNDLE_WEIGHT_KEYS, "build"},
                    {KEEL_BUNDLE_WEIGHT_KEYS, "TPU_MEGACORE"},
                    {KEEL_BUNDLE_WEIGHT_KEYS, "topology"},
                    {KEEL_BUNDLE_WEIGHT_CLIENT, "jax"},
                    {KEEL_BUNDLE_WEIGHT_CLIENT, "JAX_ENABLE_X64"},
                    {KEEL_BUNDLE_WEIGHT_PACKAGE, "numpy"},
                    {KEEL_BUNDLE_WEIGHT_REST, "path"},
                    {KEEL_BUNDLE_WEIGHT_REST, "JAX_PLATFORMS"},
                    {KEEL_BUNDLE_WEIGHT_REST, "XLA_THREAD_POOL_SIZE"},
                    {KEEL_BUNDLE_WEIGHT_REST, "kernel"},
                    {KEEL_BUNDLE_WEIGHT_REST, "reload"}};
    assert_int_equal(sides.changes.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sides.changes.count; ++i) {
        assert_string_equal(sides.changes.list[i].name, expected[i].name);
        assert_int_equal(sides.changes.list[i].weight, expected[i].weight);
    }
    end(&sides);
}

static void test_what_one_does_not_tell_is_no_difference(void **state) {
    (void)state;
    sides_t sides;
    begin(&sides);
    put_both(&sides, KEEL_BUNDLE_PLUGIN, "api", "0.81", NULL);
    put_both(&sides, KEEL_BUNDLE_PLUGIN, "xla_version", "2", NULL);
    put_both(&sides, KEEL_BUNDLE_DEVICES, "0", "cpu", NULL);
    put_both(&sides, KEEL_BUNDLE_CPU, "model", "x", NULL);
    put_both(&sides, KEEL_BUNDLE_INTERPRETER, "version", "3.11", "3.11.2");
    compare(&sides);
    assert_int_equal(sides.changes.count, 0);
    assert_true(sides.changes.untold[KEEL_BUNDLE_PLUGIN]);
    assert_true(sides.changes.untold[KEEL_BUNDLE_DEVICES]);
    assert_true(sides.changes.untold[KEEL_BUNDLE_CPU]);
    assert_false(sides.changes.untold[KEEL_BUNDLE_INTERPRETER]);
    end(&sides);
}

static void test_what_both_would_tell_is_a_difference_where_one_has_it(void **state) {
    (void)state;
    sides_t sides;
    begin(&sides);
    put_both(&sides, KEEL_BUNDLE_FLAGS, "XLA_FLAGS a", NULL, "1");
    sides.old.known[KEEL_BUNDLE_FLAGS] = true; // known to be empty
    put_both(&sides, KEEL_BUNDLE_INTERPRETER, "version", "3.1", "3.11");
    compare(&sides);
    assert_int_equal(sides.changes.count, 2);
    end(&sides);
}

static void test_bundles_may_have_nothing_in_common_and_nothing_at_all(void **state) {
    (void)state;
    enum { MOST = 3 };
    for (int old = 0; old <= MOST; ++old) {
        for (int new = 0; new <= MOST; ++new) {
            sides_t sides;
            begin(&sides);
            for (int i = 0; i < old; ++i)
                put(&sides.old, KEEL_BUNDLE_FLAGS, (char[]){(char)('a' + i), 0}, "1");
            for (int i = 0; i < new; ++i)
                put(&sides.new, KEEL_BUNDLE_FLAGS, (char[]){(char)('x' + i), 0}, "1");
            sides.old.known[KEEL_BUNDLE_FLAGS] = sides.new.known[KEEL_BUNDLE_FLAGS] = true;
            compare(&sides);
            assert_int_equal(sides.changes.count, old + new);
            end(&sides);
        }
    }
}

static void test_the_processor_counts_where_the_platform_is_it(void **state) {
    (void)state;
    static const struct {
        const char *platform;
        keel_bundle_weight_t weight;
    } cases[] = {{"cpu", KEEL_BUNDLE_WEIGHT_KEYS},
                 {NULL, KEEL_BUNDLE_WEIGHT_KEYS},
                 {"tpu", KEEL_BUNDLE_WEIGHT_REST}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        sides_t sides;
        begin(&sides);
        put_both(&sides, KEEL_BUNDLE_PLUGIN, "platform", cases[i].platform, cases[i].platform);
        put_both(&sides, KEEL_BUNDLE_CPU, "cores", "2", "4");
        compare(&sides);
        assert_int_equal(sides.changes.count, 1);
        assert_int_equal(sides.changes.list[0].weight, cases[i].weight);
        end(&sides);
    }
}

static void test_a_difference_in_json_is_json(void **state) {
    (void)state;
    sides_t sides;
    keel_buffer_t out;
    begin(&sides);
    put_both(&sides, KEEL_BUNDLE_FLAGS, "quote \" and \x01", "a", "b\n");
    compare(&sides);
    keel_buffer_initialize(&out, 0);
    keel_json_t writer = keel_json(&out, KEEL_JSON_SPACED);
    keel_json_object(&writer, NULL);
    keel_bundle_changes_json(&sides.changes, &writer);
    keel_json_end_object(&writer);
    json_t *json = json_loadb((const char *)out.data, out.size, 0, NULL);
    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "changes")), 1);
    json_decref(json);
    keel_buffer_deinitialize(&out);
    end(&sides);
}

int main(void) {
#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bundle_is_read_back_as_it_was),
        cmocka_unit_test(test_a_bundle_stays_below_its_limit_whatever_is_added),
        STAGED(test_a_thousand_packages_are_told),
        STAGED(test_what_cannot_be_read_is_left_out),
        STAGED(test_the_folder_of_packages_tells_the_version_if_nothing_else_does),
        STAGED(test_packages_of_another_python_beside_it_do_not_count),
        STAGED(test_an_interpreter_that_is_not_there_leaves_packages_unknown),
        STAGED(test_a_plugin_is_told_by_its_file),
        STAGED(test_of_a_plugin_that_is_not_there_only_its_path_is_told),
        STAGED(test_secrets_do_not_get_in),
        cmocka_unit_test(test_versions_count_by_as_many_numbers_as_the_bound_has),
        cmocka_unit_test(test_what_moves_keys_stands_first),
        cmocka_unit_test(test_what_one_does_not_tell_is_no_difference),
        cmocka_unit_test(test_what_both_would_tell_is_a_difference_where_one_has_it),
        cmocka_unit_test(test_bundles_may_have_nothing_in_common_and_nothing_at_all),
        cmocka_unit_test(test_the_processor_counts_where_the_platform_is_it),
        cmocka_unit_test(test_a_difference_in_json_is_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
