#define _GNU_SOURCE
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "settings/settings.h"
#include "settings/shown.h"

static char folder[] = "/tmp/keel-settings-XXXXXX";
static char config[256];

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(config, sizeof config, "%s/config", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(config);
    return rmdir(folder);
}

// Only what a test sets is in force.
static int clear(void **state) {
    (void)state;
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i)
        unsetenv(keel_setting_facts((keel_setting_t)i)->environment);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_STATE_HOME");
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/home/somebody", 1);
    setenv("KEEL_CONFIG", "/dev/null", 1);
    return 0;
}

static void write_config(const char *text) {
    FILE *file = fopen(config, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    setenv("KEEL_CONFIG", config, 1);
}

static void assert_setting(const keel_settings_t *settings, keel_setting_t which, const char *text,
                           keel_origin_t origin, const char *where) {
    assert_string_equal(settings->values[which].text, text);
    assert_string_equal(keel_origin_name(settings->values[which].origin), keel_origin_name(origin));
    assert_string_equal(settings->values[which].where, where);
}

// Loads, expects a refusal and looks for each of the words in it.
static void assert_refused(const char *const flags[], const char *const words[]) {
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(flags, &settings);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    for (; *words; ++words)
        if (!strstr(keel_status_message(status), *words))
            fail_msg("'%s' does not say '%s'", keel_status_message(status), *words);
    assert_null(strchr(keel_status_message(status), '\n'));
    keel_status_ignore(status);
}
#define REFUSED(flags, ...) assert_refused(flags, (const char *const[]){__VA_ARGS__, NULL})

static void what_a_message_quotes_does_not_act_on_a_terminal(void **state) {
    (void)state;
    write_config("mode = \x1b[2Jon\n");
    REFUSED(NULL, "'\\x1b[2Jon' is not a mode");
    write_config("m\x7fode = on\n");
    REFUSED(NULL, "'m\\x7fode'");
    write_config("\x1b\x07\n");
    REFUSED(NULL, "'\\x1b\\x07' is not a setting");
    char line[1024] = "mode = ";
    memset(line + strlen(line), 'x', 900);
    write_config(line);
    REFUSED(NULL, "xxx...' is not a mode");
}

// A byte that is shown as four may come where the dots just fit.
static void what_is_shown_of_a_value_ends_within_its_room(void **state) {
    (void)state;
    enum { ROOM = sizeof(keel_shown_t) };
    for (size_t plain = ROOM - 20; plain < ROOM; ++plain) {
        char value[ROOM + 8];
        struct {
            keel_shown_t shown;
            char behind[8];
        } room;
        memset(&room, '#', sizeof room);
        memset(value, 'x', sizeof value);
        memset(value + plain, '\x1b', sizeof value - plain);
        keel_setting_show((keel_str_t){value, sizeof value}, &room.shown);
        assert_memory_equal(room.behind, "########", sizeof room.behind);
        size_t size = strnlen(room.shown.text, ROOM);
        assert_in_range(size, ROOM - 8, ROOM - 1);
        assert_string_equal(room.shown.text + size - 3, "...");
    }
}

static void a_config_file_that_is_no_ordinary_file_is_refused_and_nobody_waits(void **state) {
    (void)state;
    unlink(config);
    assert_int_equal(mkfifo(config, 0600), 0);
    setenv("KEEL_CONFIG", config, 1);
    alarm(20);
    REFUSED(NULL, "config file", config, "is not a regular file", "fix or unset KEEL_CONFIG");
    setenv("KEEL_CONFIG", "/dev/zero", 1);
    REFUSED(NULL, "config file", "/dev/zero is not a regular file");
    alarm(0);
    unlink(config);
}

static void the_null_device_is_an_empty_config_file_also_behind_a_link(void **state) {
    (void)state;
    keel_settings_t settings;
    unlink(config);
    assert_int_equal(symlink("/dev/null", config), 0);
    setenv("KEEL_CONFIG", config, 1);
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(settings.config_file, config);
    keel_settings_deinitialize(&settings);
    unlink(config);
}

static void custom_calls_are_names_with_commas_between_them(void **state) {
    (void)state;
    static const char *const bad[] = {",", "a,", ",a", "a, ,b", "a b", " ", "a\nb", "\na"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        setenv("KEEL_CUSTOM_CALLS", bad[i], 1);
        REFUSED(NULL, "KEEL_CUSTOM_CALLS", "separate targets with commas");
    }
    unsetenv("KEEL_CUSTOM_CALLS");
    setenv("KEEL_APPLICATION", "a,,b", 1);
    REFUSED(NULL, "KEEL_APPLICATION", "separate packages with commas");
    unsetenv("KEEL_APPLICATION");
    write_config("custom_calls = a , b\napplication = a, b\n");
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    keel_settings_deinitialize(&settings);
    write_config("custom_calls =\napplication =\n");
    assert_null(keel_settings_load(NULL, &settings));
    keel_settings_deinitialize(&settings);
}

static void without_anything_the_defaults_follow_the_home_folder(void **state) {
    (void)state;
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    assert_setting(&settings, KEEL_SETTING_CACHE_DIR, "/home/somebody/.cache/keel",
                   KEEL_ORIGIN_DEFAULT, "");
    assert_setting(&settings, KEEL_SETTING_RUN_DIR, "/home/somebody/.local/state/keel/runs",
                   KEEL_ORIGIN_DEFAULT, "");
    assert_int_equal(settings.mode, KEEL_MODE_ON);
    assert_int_equal(settings.cache_limit, 20ull << 30);
    assert_int_equal(settings.memory_limit, 256ull << 20);
    keel_settings_deinitialize(&settings);
}

// As for a user whom the system does not know (a container with --user 12345). Of this test alone:
// it stands before the C library's.
static bool knows_nobody;
static const char *home_entry = "/home/of/the/entry";

int getpwuid_r(uid_t uid, struct passwd *entry, char *texts, size_t size, struct passwd **out) {
    (void)uid;
    *out = knows_nobody ? NULL : entry;
    *entry = (struct passwd){.pw_dir = home_entry ? texts : NULL};
    if (*out && home_entry) snprintf(texts, size, "%s", home_entry);
    return 0;
}

static void without_a_home_folder_settings_load_and_have_no_folders(void **state) {
    (void)state;
    keel_settings_t settings;
    unsetenv("HOME");
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_CACHE_DIR),
                        "/home/of/the/entry/.cache/keel");
    keel_settings_deinitialize(&settings);
    // An entry without a folder, or with one that nobody can follow, is none.
    static const char *const useless[] = {NULL, "", "home"};
    for (size_t i = 0; i < 3; ++i) {
        home_entry = useless[i];
        assert_null(keel_settings_load(NULL, &settings));
        assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_CACHE_DIR), "");
        keel_settings_deinitialize(&settings);
    }
    home_entry = "/home/of/the/entry";
    knows_nobody = true;
    assert_null(keel_settings_load(NULL, &settings));
    static const struct {
        keel_setting_t which;
        const char *message;
    } rows[] = {
        {KEEL_SETTING_CACHE_DIR, "cache_dir: there is no home folder for it; set KEEL_CACHE_DIR"},
        {KEEL_SETTING_RUN_DIR, "run_dir: there is no home folder for it; set KEEL_RUN_DIR"},
    };
    for (size_t i = 0; i < 2; ++i) {
        assert_string_equal(keel_settings_text(&settings, rows[i].which), "");
        keel_status_t status = keel_settings_need_folder(&settings, rows[i].which);
        assert_string_equal(keel_status_message(status), rows[i].message);
        keel_status_ignore(status);
    }
    keel_settings_deinitialize(&settings);
    knows_nobody = false;
}

static void an_absolute_xdg_folder_is_followed_and_a_relative_one_ignored(void **state) {
    (void)state;
    setenv("XDG_CACHE_HOME", "/big/cache", 1);
    setenv("XDG_STATE_HOME", "relative", 1);
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_CACHE_DIR), "/big/cache/keel");
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR),
                        "/home/somebody/.local/state/keel/runs");
    keel_settings_deinitialize(&settings);
}

static void a_flag_beats_the_environment_which_beats_the_file(void **state) {
    (void)state;
    write_config("# settings\nmode = off\ncache_limit=1G   # small\n  memory_limit = 1M\n\n");
    setenv("KEEL_MODE", "readonly", 1);
    setenv("KEEL_CACHE_LIMIT", "2G", 1);
    const char *flags[KEEL_SETTING_COUNT] = {[KEEL_SETTING_MODE] = "refresh"};
    keel_settings_t settings;
    assert_null(keel_settings_load(flags, &settings));
    char line4[300];
    snprintf(line4, sizeof line4, "%s:4", config);
    assert_setting(&settings, KEEL_SETTING_MODE, "refresh", KEEL_ORIGIN_FLAG, "--mode");
    assert_setting(&settings, KEEL_SETTING_CACHE_LIMIT, "2G", KEEL_ORIGIN_ENVIRONMENT,
                   "KEEL_CACHE_LIMIT");
    assert_setting(&settings, KEEL_SETTING_MEMORY_LIMIT, "1M", KEEL_ORIGIN_FILE, line4);
    assert_int_equal(settings.mode, KEEL_MODE_REFRESH);
    assert_int_equal(settings.cache_limit, 2ull << 30);
    assert_int_equal(settings.memory_limit, 1ull << 20);
    assert_string_equal(settings.config_file, config);
    keel_settings_deinitialize(&settings);
}

static void an_empty_environment_variable_is_unset(void **state) {
    (void)state;
    setenv("KEEL_MODE", "", 1);
    setenv("KEEL_CACHE_DIR", "", 1);
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    assert_setting(&settings, KEEL_SETTING_MODE, "on", KEEL_ORIGIN_DEFAULT, "");
    assert_setting(&settings, KEEL_SETTING_CACHE_DIR, "/home/somebody/.cache/keel",
                   KEEL_ORIGIN_DEFAULT, "");
    keel_settings_deinitialize(&settings);
}

static void a_folder_is_made_absolute_and_its_tilde_expanded(void **state) {
    (void)state;
    assert_int_equal(chdir(folder), 0);
    setenv("KEEL_CACHE_DIR", "~/c", 1);
    setenv("KEEL_RUN_DIR", "./r", 1);
    setenv("KEEL_PLUGIN", "tpu", 1);
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    char here[300];
    snprintf(here, sizeof here, "%s/r", folder);
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_CACHE_DIR), "/home/somebody/c");
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), here);
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_PLUGIN), "tpu");
    keel_settings_deinitialize(&settings);
    assert_int_equal(chdir("/"), 0);
}

static void assert_run_dir(const char *text, const char *expected) {
    keel_settings_t settings;
    setenv("KEEL_RUN_DIR", text, 1);
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), expected);
    keel_settings_deinitialize(&settings);
}

static void only_a_leading_dot_or_tilde_of_a_path_means_something(void **state) {
    (void)state;
    assert_int_equal(chdir("/"), 0);
    assert_run_dir("a/b", "/a/b");
    assert_run_dir(".hidden", "/.hidden");
    assert_run_dir("././r", "/r");
    assert_run_dir("~", "/home/somebody");
    assert_run_dir("~somebody/r", "/~somebody/r");
    assert_run_dir("/a/~", "/a/~");
    assert_int_equal(chdir("/tmp"), 0);
    assert_run_dir("r", "/tmp/r");
    assert_int_equal(chdir("/"), 0);
    write_config("run_dir = ~/r\n");
    unsetenv("KEEL_RUN_DIR");
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), "/home/somebody/r");
    keel_settings_deinitialize(&settings);
    write_config("run_dir = a/r\n");
    REFUSED(NULL, "'a/r' is relative");
    write_config("run_dir = r~\n");
    REFUSED(NULL, "'r~' is relative");
}

static void assert_plugin(const char *text, const char *expected) {
    keel_settings_t settings;
    setenv("KEEL_PLUGIN", text, 1);
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_PLUGIN), expected);
    keel_settings_deinitialize(&settings);
}

static void a_plugin_is_a_name_unless_it_is_a_file(void **state) {
    (void)state;
    char file[300];
    assert_int_equal(chdir(folder), 0);
    static const char *const files[] = {"cpu", "tpu", "my.so"};
    for (size_t i = 0; i < 3; ++i)
        fclose(fopen(files[i], "w"));
    assert_plugin("cpu", "cpu");
    assert_plugin("tpu", "tpu");
    snprintf(file, sizeof file, "%s/my.so", folder);
    assert_plugin("my.so", file);
    assert_plugin("gpu", "gpu");
    snprintf(file, sizeof file, "%s/b/gpu", folder);
    assert_plugin("b/gpu", file);
    assert_plugin("~", "/home/somebody");
    assert_plugin("a~", "a~");
    for (size_t i = 0; i < 3; ++i)
        unlink(files[i]);
    assert_int_equal(chdir("/"), 0);
}

static void every_setting_has_a_text_and_is_set_by_its_key_and_variable(void **state) {
    (void)state;
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        assert_non_null(settings.values[i].text);
        const char *key = keel_setting_facts((keel_setting_t)i)->key;
        assert_int_equal(keel_setting_by_key(keel_str(key)), i);
    }
    assert_int_equal(keel_setting_by_key(KEEL_STR("")), KEEL_SETTING_COUNT);
    assert_string_not_equal(keel_settings_text(&settings, KEEL_SETTING_PLUGIN), "");
    keel_settings_deinitialize(&settings);
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i)
        assert_null(settings.values[i].text);
    write_config("plugin = tpu\r\nmode = off\t\r\n");
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_PLUGIN), "tpu");
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_MODE), "off");
    keel_settings_deinitialize(&settings);
    assert_plugin("cpu", "cpu");
}

static void switches_and_ages_are_checked_by_their_names(void **state) {
    (void)state;
    keel_settings_t settings;
    const char *name = keel_setting_facts(KEEL_SETTING_SHARED_CACHE)->environment;
    static const char *const words[] = {"off", "on"};
    for (int i = 0; i < 2; ++i) {
        setenv(name, words[i], 1);
        assert_null(keel_settings_load(NULL, &settings));
        assert_int_equal(settings.shared_cache, i);
        keel_settings_deinitialize(&settings);
    }
    setenv(name, "1", 1);
    REFUSED(NULL, name, "'1' is not a boolean");
    unsetenv(name);
    name = keel_setting_facts(KEEL_SETTING_KEEP_RUNS)->environment;
    setenv(name, "2d", 1);
    assert_null(keel_settings_load(NULL, &settings));
    assert_int_equal(settings.keep_runs, 2 * 86400);
    keel_settings_deinitialize(&settings);
    setenv(name, "2", 1);
    REFUSED(NULL, name, "'2' is not an age");
}

static void devices_are_counted_from_one(void **state) {
    (void)state;
    keel_settings_t settings;
    const char *name = keel_setting_facts(KEEL_SETTING_CPU_DEVICES)->environment;
    assert_null(keel_settings_load(NULL, &settings));
    assert_int_equal(settings.cpu_devices, 1);
    keel_settings_deinitialize(&settings);
    static const struct {
        const char *text;
        uint32_t number;
    } good[] = {{"1", 1}, {"04", 4}, {"1024", 1024}};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        setenv(name, good[i].text, 1);
        assert_null(keel_settings_load(NULL, &settings));
        assert_int_equal(settings.cpu_devices, good[i].number);
        keel_settings_deinitialize(&settings);
    }
    static const char *const bad[] = {
        "0", "1025", "-1", "+1", "1.0", " 1", "four", "00001", "18446744073709551617"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        setenv(name, bad[i], 1);
        REFUSED(NULL, name, bad[i], "is not a number of devices; use 1 to 1024");
    }
}

static void a_comment_begins_at_a_blank(void **state) {
    (void)state;
    keel_settings_t settings;
    write_config("#a\n\t# b\nrun_dir = /a#b# c #d\n");
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), "/a#b# c");
    keel_settings_deinitialize(&settings);
}

static void a_flag_profile_is_chosen_by_its_name(void **state) {
    (void)state;
    keel_settings_t settings;
    const char *flags[KEEL_SETTING_COUNT] = {NULL};
    write_config("profile.fast = --xla_a=1\nprofile.slow = --xla_a=0 --xla_b\nprofile.fast = "
                 "--xla_a=2\n");
    assert_null(keel_settings_load(NULL, &settings));
    assert_string_equal(keel_settings_profile_flags(&settings), "");
    keel_settings_deinitialize(&settings);
    flags[KEEL_SETTING_PROFILE] = "slow";
    assert_null(keel_settings_load(flags, &settings));
    assert_string_equal(keel_settings_profile_flags(&settings), "--xla_a=0 --xla_b");
    keel_settings_deinitialize(&settings);
    flags[KEEL_SETTING_PROFILE] = "fast";
    assert_null(keel_settings_load(flags, &settings));
    assert_string_equal(keel_settings_profile_flags(&settings), "--xla_a=2");
    keel_settings_deinitialize(&settings);
}

static void a_zero_byte_is_in_no_config_file(void **state) {
    (void)state;
    keel_settings_t settings = {0};
    static const char text[] = "mode = on\nmo\0de = off\n";
    keel_status_t status =
        keel_settings_parse(keel_bytes(text, sizeof text - 1), "file", &settings);
    assert_string_equal(keel_status_message(status),
                        "file:2: a zero byte; this is not a config file");
    keel_status_ignore(status);
    keel_settings_deinitialize(&settings);
}

// Beside a program that was installed, and in a wheel. A copy of this test asks where it is.
static void the_plugin_that_came_with_keel_is_found_beside_it(void **state) {
    (void)state;
    static const struct {
        const char *program, *plugin;
    } rows[] = {{"bin/keel", "lib/keel/" KEEL_EMBEDDED_PLUGIN},
                {"keel/native/bin/keel", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"},
                {"bin/keel", NULL}};
    for (size_t i = *KEEL_EMBEDDED_PLUGIN ? 0 : 1; i < 3; ++i) {
        char command[8192], asked[512], plugin[512] = "", root[300];
        snprintf(root, sizeof root, "%s/%zu", folder, i);
        if (rows[i].plugin) snprintf(plugin, sizeof plugin, "%s/%s", root, rows[i].plugin);
        snprintf(command, sizeof command,
                 "set -e; mkdir -p $(dirname %s/%s); cp /proc/%d/exe %s/%s; "
                 "[ -z '%s' ] || { mkdir -p $(dirname '%s'); echo > '%s'; }; "
                 "PATH=$(dirname %s/%s):$PATH; keel embedded",
                 root, rows[i].program, (int)getpid(), root, rows[i].program, plugin, plugin,
                 plugin, root, rows[i].program);
        FILE *answer = popen(command, "r");
        assert_non_null(answer);
        asked[fread(asked, 1, sizeof asked - 1, answer)] = 0;
        assert_int_equal(pclose(answer), 0);
        assert_string_equal(asked, plugin);
        snprintf(command, sizeof command, "rm -r '%s'", root);
        assert_int_equal(system(command), 0);
    }
}

static int tell_embedded(void) {
    char *plugin;
    keel_status_t status = keel_settings_embedded_plugin(&plugin);
    if (status) return 1;
    fputs(plugin, stdout);
    keel_free(plugin);
    return 0;
}

static void an_unknown_key_is_refused_with_its_line_and_the_keys_there_are(void **state) {
    (void)state;
    write_config("mode = on\ncache-dir = /x\n");
    REFUSED(NULL, "config:2", "'cache-dir'", "the keys are plugin, ", "cache_dir", "custom_calls");
}

static void a_line_without_an_equals_sign_or_a_value_is_refused(void **state) {
    (void)state;
    write_config("\n\nmode on\n");
    REFUSED(NULL, "config:3", "key = value");
    write_config("cache_dir =  # none\n");
    REFUSED(NULL, "config:1", "cache_dir has no value");
}

static void a_bad_value_is_refused_by_the_name_it_was_written_in(void **state) {
    (void)state;
    const char *flags[KEEL_SETTING_COUNT] = {[KEEL_SETTING_MODE] = "onn"};
    REFUSED(flags, "--mode: 'onn'", "readonly");
    setenv("KEEL_CACHE_LIMIT", "lots", 1);
    REFUSED(NULL, "KEEL_CACHE_LIMIT: 'lots'", "512M");
    unsetenv("KEEL_CACHE_LIMIT");
    write_config("memory_limit = -1\n");
    REFUSED(NULL, "config:1: memory_limit: '-1'");
    write_config("stack = yes\n");
    REFUSED(NULL, "config:1: stack: 'yes'", "on or off");
}

static void the_stack_is_read_unless_it_is_switched_off(void **state) {
    (void)state;
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    assert_true(settings.stack);
    keel_settings_deinitialize(&settings);
    const char *flags[KEEL_SETTING_COUNT] = {[KEEL_SETTING_STACK] = "off"};
    assert_null(keel_settings_load(flags, &settings));
    assert_false(settings.stack);
    keel_settings_deinitialize(&settings);
}

static void a_remote_address_as_folder_is_refused_with_the_setting_to_use(void **state) {
    (void)state;
    setenv("KEEL_CACHE_DIR", "gs://bucket/keel", 1);
    REFUSED(NULL, "KEEL_CACHE_DIR: gs://bucket/keel",
            "set KEEL_CACHE_DIR to a folder on this machine", "remote");
    setenv("KEEL_CACHE_DIR", "file:///x", 1);
    REFUSED(NULL, "KEEL_CACHE_DIR", "use the plain path: /x");
    setenv("KEEL_CACHE_DIR", "http://host/keel", 1);
    REFUSED(NULL, "KEEL_CACHE_DIR: http://host/keel", "remote");
    setenv("KEEL_CACHE_DIR", "filer://host/keel", 1);
    REFUSED(NULL, "KEEL_CACHE_DIR: filer://host/keel", "remote");
    assert_null(keel_settings_check_folder("9://b", "x"));
    assert_null(keel_settings_check_folder("gs:/b", "x"));
    assert_null(keel_settings_check_folder("/plain/a://b", "x"));
    assert_null(keel_settings_check_folder("9gs://b", "x"));
    assert_null(keel_settings_check_folder("://b", "x"));
}

static void a_relative_folder_in_the_file_is_refused(void **state) {
    (void)state;
    write_config("run_dir = runs\n");
    REFUSED(NULL, "config:1: run_dir: 'runs'", "~/");
}

static void a_config_file_that_was_named_must_be_there(void **state) {
    (void)state;
    setenv("KEEL_CONFIG", "/nowhere/config", 1);
    REFUSED(NULL, "/nowhere/config", "KEEL_CONFIG");
    setenv("KEEL_CONFIG", "", 1);
    keel_settings_t settings;
    assert_null(keel_settings_load(NULL, &settings));
    assert_null(settings.config_file);
    keel_settings_deinitialize(&settings);
}

#ifdef KEEL_FAULTS
static void every_allocation_that_fails_is_reported_and_nothing_leaks(void **state) {
    (void)state;
    write_config("mode = off\n");
    setenv("KEEL_CACHE_DIR", "~/c", 1);
    for (uint64_t n = 1;; ++n) {
        assert_true(n < 1000);
        keel_settings_t settings;
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status = keel_settings_load(NULL, &settings);
        uint64_t seen = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        keel_settings_deinitialize(&settings);
        keel_status_ignore(status);
        if (seen < n) break;
        assert_non_null(status);
    }
}
#endif

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "embedded") == 0) return tell_embedded();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, clear)
        TEST(what_a_message_quotes_does_not_act_on_a_terminal),
        TEST(what_is_shown_of_a_value_ends_within_its_room),
        TEST(a_config_file_that_is_no_ordinary_file_is_refused_and_nobody_waits),
        TEST(the_null_device_is_an_empty_config_file_also_behind_a_link),
        TEST(custom_calls_are_names_with_commas_between_them),
        TEST(without_anything_the_defaults_follow_the_home_folder),
        TEST(without_a_home_folder_settings_load_and_have_no_folders),
        TEST(an_absolute_xdg_folder_is_followed_and_a_relative_one_ignored),
        TEST(a_flag_beats_the_environment_which_beats_the_file),
        TEST(an_empty_environment_variable_is_unset),
        TEST(a_folder_is_made_absolute_and_its_tilde_expanded),
        TEST(an_unknown_key_is_refused_with_its_line_and_the_keys_there_are),
        TEST(a_line_without_an_equals_sign_or_a_value_is_refused),
        TEST(a_bad_value_is_refused_by_the_name_it_was_written_in),
        TEST(the_stack_is_read_unless_it_is_switched_off),
        TEST(a_remote_address_as_folder_is_refused_with_the_setting_to_use),
        TEST(a_relative_folder_in_the_file_is_refused),
        TEST(a_config_file_that_was_named_must_be_there),
        TEST(only_a_leading_dot_or_tilde_of_a_path_means_something),
        TEST(a_plugin_is_a_name_unless_it_is_a_file),
        TEST(every_setting_has_a_text_and_is_set_by_its_key_and_variable),
        TEST(switches_and_ages_are_checked_by_their_names),
        TEST(devices_are_counted_from_one),
        TEST(a_comment_begins_at_a_blank),
        TEST(a_flag_profile_is_chosen_by_its_name),
        TEST(a_zero_byte_is_in_no_config_file),
        TEST(the_plugin_that_came_with_keel_is_found_beside_it),
#ifdef KEEL_FAULTS
        TEST(every_allocation_that_fails_is_reported_and_nothing_leaks),
#endif
    };
    return cmocka_run_group_tests_name("settings", tests, set_up, tear_down);
}
