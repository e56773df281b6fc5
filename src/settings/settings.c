#define _GNU_SOURCE
#include "settings/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "settings/address.h"
#include "settings/places.h"
#include "settings/profiles.h"
#include "settings/shown.h"

static const keel_setting_facts_t all_facts[KEEL_SETTING_COUNT] = {
#define FACTS(name, ...) {__VA_ARGS__},
    KEEL_SETTINGS(FACTS)
#undef FACTS
};

const keel_setting_facts_t *keel_setting_facts(keel_setting_t setting) {
    return &all_facts[setting];
}

keel_setting_t keel_setting_by_key(keel_str_t key) {
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i)
        if (keel_str_equal(key, keel_str(all_facts[i].key))) return (keel_setting_t)i;
    return KEEL_SETTING_COUNT;
}

static const char *const mode_names[] = {
#define NAME(name, word, sentence) word,
    KEEL_MODES(NAME)
#undef NAME
};

const char *keel_mode_name(keel_mode_t mode) {
    return mode_names[mode];
}

const char *keel_origin_name(keel_origin_t origin) {
    static const char *const names[] = {"default", "file", "environment", "flag"};
    return names[origin];
}

void keel_settings_deinitialize(keel_settings_t *settings) {
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        keel_free(settings->values[i].text);
        keel_free(settings->values[i].where);
    }
    keel_free(settings->config_file);
    keel_profiles_free(settings);
    *settings = (keel_settings_t){0};
}

// Copies both texts.
static keel_status_t set_value(keel_settings_t *settings, keel_setting_t which, keel_str_t text,
                               keel_origin_t origin, const char *where) {
    char *copy, *from;
    KEEL_TRY(keel_strdup(text, &copy));
    keel_status_t status = keel_strdup(keel_str(where), &from);
    if (status) {
        keel_free(copy);
        return status;
    }
    keel_setting_value_t *value = &settings->values[which];
    keel_free(value->text);
    keel_free(value->where);
    *value = (keel_setting_value_t){.text = copy, .origin = origin, .where = from};
    return NULL;
}

// ---- the config file ---------------------------------------------------------------------------

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static keel_str_t trimmed(keel_str_t text) {
    while (text.size && is_blank(text.data[0]))
        text = (keel_str_t){text.data + 1, text.size - 1};
    while (text.size && is_blank(text.data[text.size - 1]))
        --text.size;
    return text;
}

static keel_str_t without_comment(keel_str_t line) {
    for (size_t i = 0; i < line.size; ++i)
        if (line.data[i] == '#' && (i == 0 || is_blank(line.data[i - 1])))
            return (keel_str_t){line.data, i};
    return line;
}

static keel_status_t unknown_key(keel_str_t key, const char *where) {
    char known[512] = "";
    keel_shown_t shown;
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", all_facts[i].key);
    }
    return keel_status_make(KEEL_INVALID, "%s: unknown key '%s'; the keys are %s", where,
                            keel_setting_show(key, &shown), known);
}

static keel_status_t parse_line(keel_str_t line, const char *where, keel_settings_t *settings) {
    keel_shown_t shown;
    line = trimmed(without_comment(line));
    if (!line.size) return NULL;
    if (memchr(line.data, 0, line.size))
        return keel_status_make(KEEL_INVALID, "%s: a zero byte; this is not a config file", where);
    const char *equals = memchr(line.data, '=', line.size);
    if (!equals)
        return keel_status_make(KEEL_INVALID, "%s: '%s' is not a setting; write `key = value`",
                                where, keel_setting_show(line, &shown));
    size_t at = (size_t)(equals - line.data);
    keel_str_t key = trimmed((keel_str_t){line.data, at});
    keel_str_t value = trimmed((keel_str_t){equals + 1, line.size - at - 1});
    if (keel_str_starts(key, KEEL_STR(KEEL_PROFILE_KEY)))
        return keel_profile_add(settings, key, value, where);
    keel_setting_t which = keel_setting_by_key(key);
    if (which == KEEL_SETTING_COUNT) return unknown_key(key, where);
    if (!value.size && which != KEEL_SETTING_CUSTOM_CALLS && which != KEEL_SETTING_APPLICATION)
        return keel_status_make(KEEL_INVALID, "%s: %s has no value; give one or remove the line",
                                where, all_facts[which].key);
    return set_value(settings, which, value, KEEL_ORIGIN_FILE, where);
}

keel_status_t keel_settings_parse(keel_bytes_t bytes, const char *path, keel_settings_t *settings) {
    keel_str_t rest = keel_bytes_str(bytes);
    for (unsigned number = 1; rest.size; ++number) {
        const char *end = memchr(rest.data, '\n', rest.size);
        keel_str_t line = {rest.data, end ? (size_t)(end - rest.data) : rest.size};
        size_t taken = line.size + (end ? 1 : 0);
        rest = (keel_str_t){rest.data + taken, rest.size - taken};
        char *where;
        KEEL_TRY(keel_path(&where, "%s:%u", path, number));
        keel_status_t status = parse_line(line, where, settings);
        keel_free(where);
        KEEL_TRY(status);
    }
    return NULL;
}

// People name the null device to mean "no file"; a link to it works too.
static bool is_null_device(const keel_file_facts_t *facts) {
    keel_file_facts_t null = {0};
    keel_status_t status = keel_file_facts("/dev/null", &null);
    bool is_there = !status;
    keel_status_ignore(status);
    return is_there && facts->inode == null.inode && facts->device == null.device;
}

// Refuses a named pipe and the like, which would make the client wait.
static keel_status_t read_ordinary(const char *path, uint8_t **out, size_t *out_size) {
    enum { CONFIG_LIMIT = 1 << 20 };
    keel_file_facts_t facts = {0};
    *out = NULL;
    *out_size = 0;
    keel_status_t status = keel_file_read_with_facts(path, CONFIG_LIMIT, out, out_size, &facts);
    if (keel_status_code(status) != KEEL_INVALID || !is_null_device(&facts)) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t read_config(const char *path, bool must_exist, keel_settings_t *settings) {
    uint8_t *data;
    size_t size;
    keel_status_t status = read_ordinary(path, &data, &size);
    if (status && keel_status_code(status) == KEEL_NOT_FOUND && !must_exist) {
        keel_status_ignore(status);
        return NULL;
    }
    if (status) {
        const char *next = must_exist ? "fix or unset KEEL_CONFIG" : "fix or remove the file";
        keel_status_t told = keel_status_make(KEEL_INVALID, "config file: %s; %s",
                                              keel_status_message(status), next);
        keel_status_ignore(status);
        return told;
    }
    status = keel_settings_parse(keel_bytes(data, size), path, settings);
    keel_free(data);
    if (!status) status = keel_strdup(keel_str(path), &settings->config_file);
    return status;
}

static keel_status_t load_file(keel_settings_t *settings) {
    const char *named = getenv("KEEL_CONFIG");
    if (named && !*named) named = NULL;
    char *path = NULL;
    KEEL_TRY(named ? keel_place_absolute(named, &path) : keel_place_config(&path));
    keel_status_t status = path ? read_config(path, named != NULL, settings) : NULL;
    keel_free(path);
    return status;
}

// ---- all together ------------------------------------------------------------------------------

static keel_status_t load_defaults(keel_settings_t *settings) {
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        char *computed = NULL;
        keel_str_t text = KEEL_STR("");
        switch ((keel_setting_t)i) {
            case KEEL_SETTING_PLUGIN:
                KEEL_TRY(keel_settings_embedded_plugin(&computed));
                text = KEEL_STR("cpu"); // of the current Python, if none is embedded
                break;
            case KEEL_SETTING_CACHE_DIR:
                KEEL_TRY(keel_place_cache(&computed));
                break;
            case KEEL_SETTING_RUN_DIR:
                KEEL_TRY(keel_place_runs(&computed));
                break;
            case KEEL_SETTING_KEYS_DIR:
                KEEL_TRY(keel_place_keys(&computed));
                break;
            case KEEL_SETTING_CUSTOM_CALLS:
            case KEEL_SETTING_APPLICATION:
            case KEEL_SETTING_CONTRACT:
            case KEEL_SETTING_ON_DRIFT:
                break;
            default:
                text = keel_str(all_facts[i].fallback);
        }
        keel_status_t status =
            set_value(settings, (keel_setting_t)i,
                      computed && *computed ? keel_str(computed) : text, KEEL_ORIGIN_DEFAULT, "");
        keel_free(computed);
        KEEL_TRY(status);
    }
    return NULL;
}

static keel_status_t load_texts(const char *const flags[], keel_settings_t *settings) {
    KEEL_TRY(load_defaults(settings));
    KEEL_TRY(load_file(settings));
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        const char *text = getenv(all_facts[i].environment);
        if (text && *text)
            KEEL_TRY(set_value(settings, (keel_setting_t)i, keel_str(text), KEEL_ORIGIN_ENVIRONMENT,
                               all_facts[i].environment));
        if (flags && flags[i])
            KEEL_TRY(set_value(settings, (keel_setting_t)i, keel_str(flags[i]), KEEL_ORIGIN_FLAG,
                               all_facts[i].flag));
    }
    return NULL;
}

// "/etc/keel:3: cache_dir", "KEEL_CACHE_DIR", "--cache-dir".
static void written_in(const keel_settings_t *settings, keel_setting_t which, char out[512]) {
    const keel_setting_value_t *value = &settings->values[which];
    bool in_file = value->origin == KEEL_ORIGIN_FILE;
    if (value->origin == KEEL_ORIGIN_DEFAULT)
        snprintf(out, 512, "%s", all_facts[which].key);
    else
        snprintf(out, 512, "%s%s%s", value->where, in_file ? ": " : "",
                 in_file ? all_facts[which].key : "");
}

// `wrong` ends the message: "is unknown; use a or b".
static keel_status_t check_word(const keel_settings_t *settings, keel_setting_t which,
                                const char *const *words, size_t count, const char *wrong,
                                size_t *out_place) {
    const char *text = keel_settings_text(settings, which);
    for (*out_place = 0; *out_place < count; ++*out_place)
        if (strcmp(text, words[*out_place]) == 0) return NULL;
    char where[512];
    keel_shown_t shown;
    written_in(settings, which, where);
    return keel_status_make(KEEL_INVALID, "%s: '%s' %s", where,
                            keel_setting_show(keel_str(text), &shown), wrong);
}
#define CHECK_WORD(settings, which, words, wrong, out_place)                                       \
    check_word((settings), (which), (words), sizeof(words) / sizeof *(words), (wrong), (out_place))

static keel_status_t check_mode(keel_settings_t *settings) {
    size_t place;
    KEEL_TRY(CHECK_WORD(settings, KEEL_SETTING_MODE, mode_names,
                        "is not a mode; use on, off, readonly or refresh", &place));
    settings->mode = (keel_mode_t)place;
    return NULL;
}

static keel_status_t check_size(keel_settings_t *settings, keel_setting_t which, uint64_t *out) {
    const char *text = keel_settings_text(settings, which);
    if (keel_parse_size(text, out)) return NULL;
    char where[512];
    keel_shown_t shown;
    written_in(settings, which, where);
    return keel_status_make(
        KEEL_INVALID,
        "%s: '%s' is not a size; use bytes, or a number with K, M, G or T, such as 512M", where,
        keel_setting_show(keel_str(text), &shown));
}

static keel_status_t check_switch(const keel_settings_t *settings, keel_setting_t which,
                                  bool *out) {
    static const char *const words[] = {"off", "on"};
    size_t place;
    KEEL_TRY(CHECK_WORD(settings, which, words, "is not a boolean; use on or off", &place));
    *out = place == 1;
    return NULL;
}

static keel_status_t check_client_cache(keel_settings_t *settings) {
    static const char *const words[] = {"off", "keep"};
    size_t place;
    KEEL_TRY(CHECK_WORD(settings, KEEL_SETTING_CLIENT_CACHE, words, "is unknown; use off or keep",
                        &place));
    settings->keeps_client_cache = place == 1;
    return NULL;
}

static keel_status_t check_age(keel_settings_t *settings, keel_setting_t which, uint64_t *out) {
    const char *text = keel_settings_text(settings, which);
    if (keel_parse_age(text, out)) return NULL;
    char where[512];
    keel_shown_t shown;
    written_in(settings, which, where);
    return keel_status_make(KEEL_INVALID,
                            "%s: '%s' is not an age; use a number with s, m, h, d or w, such as "
                            "30d, or 0",
                            where, keel_setting_show(keel_str(text), &shown));
}

static keel_status_t check_devices(keel_settings_t *settings) {
    enum { MOST = 1024 };
    const char *text = keel_settings_text(settings, KEEL_SETTING_CPU_DEVICES);
    bool is_number = strspn(text, "0123456789") == strlen(text) && strlen(text) <= 4;
    unsigned long number = is_number ? strtoul(text, NULL, 10) : 0;
    settings->cpu_devices = (uint32_t)number;
    if (number >= 1 && number <= MOST) return NULL;
    char where[512];
    keel_shown_t shown;
    written_in(settings, KEEL_SETTING_CPU_DEVICES, where);
    return keel_status_make(KEEL_INVALID, "%s: '%s' is not a number of devices; use 1 to %d", where,
                            keel_setting_show(keel_str(text), &shown), MOST);
}

static keel_status_t check_jax_cpu(const keel_settings_t *settings) {
    static const char *const words[] = {"own", "embedded"};
    size_t place;
    return CHECK_WORD(settings, KEEL_SETTING_JAX_CPU, words, "is unknown; use own or embedded",
                      &place);
}

static keel_status_t check_python_gc(const keel_settings_t *settings) {
    static const char *const words[] = {"imports", "start", "keep"};
    size_t place;
    return CHECK_WORD(settings, KEEL_SETTING_PYTHON_GC, words,
                      "is unknown; use keep, imports or start", &place);
}

static keel_status_t check_on_drift(keel_settings_t *settings) {
    static const char *const words[] = {
#define KEEL_ON_DRIFT_WORD(name, word) word,
        KEEL_ON_DRIFTS(KEEL_ON_DRIFT_WORD)
#undef KEEL_ON_DRIFT_WORD
    };
    size_t place;
    KEEL_TRY(CHECK_WORD(settings, KEEL_SETTING_ON_DRIFT, words,
                        "is unknown; use warn, refuse or record", &place));
    settings->on_drift = (keel_on_drift_t)place;
    return NULL;
}

static keel_status_t check_writes(keel_settings_t *settings) {
    static const char *const words[] = {
#define KEEL_WRITES_WORD(name, word) word,
        KEEL_WRITES(KEEL_WRITES_WORD)
#undef KEEL_WRITES_WORD
    };
    size_t place;
    KEEL_TRY(CHECK_WORD(settings, KEEL_SETTING_WRITES, words,
                        "is unknown; use discard, keep or refuse", &place));
    settings->writes = (keel_writes_t)place;
    return NULL;
}

static keel_status_t check_agree(keel_settings_t *settings) {
    static const char *const words[] = {
#define KEEL_AGREE_WORD(name, word) word,
        KEEL_AGREES(KEEL_AGREE_WORD)
#undef KEEL_AGREE_WORD
    };
    const char *text = keel_settings_text(settings, KEEL_SETTING_AGREE);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        settings->agree = (keel_agree_t)i;
        if (words[i] && strcmp(text, words[i]) == 0) return NULL;
    }
    char where[512];
    keel_shown_t shown;
    written_in(settings, KEEL_SETTING_AGREE, where);
    if (!strstr(text, "://"))
        return keel_status_make(KEEL_INVALID,
                                "%s: '%s' is unknown; use on, off, client, folder or "
                                "redis://HOST:PORT",
                                where, keel_setting_show(keel_str(text), &shown));
    keel_redis_address_t address;
    const char *wrong = keel_redis_address_parse(text, &address);
    settings->agree = KEEL_AGREE_REDIS;
    if (!wrong) return NULL;
    return keel_status_make(KEEL_INVALID, "%s: '%s' %s", where,
                            keel_setting_show(keel_str(text), &shown), wrong);
}

static keel_status_t check_remotes(keel_settings_t *settings) {
    keel_status_t why =
        keel_remotes_parse(keel_settings_text(settings, KEEL_SETTING_REMOTES), &settings->remotes);
    if (!why) return NULL;
    char where[512];
    written_in(settings, KEEL_SETTING_REMOTES, where);
    keel_status_t status =
        keel_status_make(KEEL_INVALID, "%s: %s", where, keel_status_message(why));
    keel_status_ignore(why);
    return status;
}

static keel_status_t check_freeze(keel_settings_t *settings) {
    const char *text = keel_settings_text(settings, KEEL_SETTING_FREEZE_AFTER);
    bool is_number = strspn(text, "0123456789") == strlen(text) && strlen(text) <= 18;
    settings->freeze_after = is_number ? strtoull(text, NULL, 10) : 0;
    if (is_number) return NULL;
    char where[512];
    keel_shown_t shown;
    written_in(settings, KEEL_SETTING_FREEZE_AFTER, where);
    return keel_status_make(KEEL_INVALID, "%s: '%s' is not a number of steps, such as 10", where,
                            keel_setting_show(keel_str(text), &shown));
}

static keel_status_t check_profile(const keel_settings_t *settings) {
    char where[512];
    written_in(settings, KEEL_SETTING_PROFILE, where);
    return keel_profile_check(settings, where);
}

// "a, b": a name between commas, with no blank inside it.
static keel_status_t check_names(const keel_settings_t *settings, keel_setting_t which,
                                 const char *what) {
    const char *value = keel_settings_text(settings, which);
    keel_str_t rest = keel_str(value);
    for (bool more = rest.size != 0; more;) {
        const char *comma = memchr(rest.data, ',', rest.size);
        keel_str_t name = {rest.data, comma ? (size_t)(comma - rest.data) : rest.size};
        more = comma != NULL;
        if (more) rest = (keel_str_t){comma + 1, rest.size - name.size - 1};
        name = trimmed(name);
        bool blank = false;
        for (size_t i = 0; i < name.size; ++i)
            blank = blank || is_blank(name.data[i]) || name.data[i] == '\n';
        if (name.size && !blank) continue;
        char where[512];
        keel_shown_t shown;
        written_in(settings, which, where);
        return keel_status_make(KEEL_INVALID, "%s: '%s' has %s; separate %s with commas", where,
                                keel_setting_show(keel_str(value), &shown),
                                name.size ? "a blank inside a name" : "an empty name", what);
    }
    return NULL;
}

// A word that is not a file is a plugin's name; the code that finds plugins accepts or refuses it.
static bool is_name(const char *text) {
    keel_file_facts_t facts;
    if (strchr(text, '/') || text[0] == '~') return false;
    if (strcmp(text, "cpu") == 0 || strcmp(text, "tpu") == 0) return true;
    keel_status_t status = keel_file_facts(text, &facts);
    keel_status_ignore(status);
    return status != NULL;
}

// Makes a folder's or plugin's path absolute.
static keel_status_t check_path(keel_settings_t *settings, keel_setting_t which) {
    keel_setting_value_t *value = &settings->values[which];
    if (value->origin == KEEL_ORIGIN_DEFAULT) return NULL;
    if (which == KEEL_SETTING_PLUGIN && *value->text && is_name(value->text)) return NULL;
    char where[512];
    keel_shown_t shown;
    written_in(settings, which, where);
    KEEL_TRY(keel_settings_check_folder(value->text, where));
    if (!*value->text)
        return keel_status_make(KEEL_INVALID, "%s: empty path; give one or leave it out", where);
    if (value->origin == KEEL_ORIGIN_FILE && value->text[0] != '/' && value->text[0] != '~')
        return keel_status_make(KEEL_INVALID,
                                "%s: '%s' is relative, but this file applies to every folder; use "
                                "a path that begins with / or ~/",
                                where, keel_setting_show(keel_str(value->text), &shown));
    char *absolute;
    KEEL_TRY(keel_place_absolute(value->text, &absolute));
    keel_free(value->text);
    value->text = absolute;
    return NULL;
}

static keel_status_t check_all(keel_settings_t *settings) {
    KEEL_TRY(check_path(settings, KEEL_SETTING_PLUGIN));
    KEEL_TRY(check_path(settings, KEEL_SETTING_CACHE_DIR));
    KEEL_TRY(check_path(settings, KEEL_SETTING_RUN_DIR));
    if (*keel_settings_text(settings, KEEL_SETTING_CONTRACT))
        KEEL_TRY(check_path(settings, KEEL_SETTING_CONTRACT));
    KEEL_TRY(check_path(settings, KEEL_SETTING_KEYS_DIR));
    KEEL_TRY(check_remotes(settings));
    KEEL_TRY(check_mode(settings));
    KEEL_TRY(check_client_cache(settings));
    KEEL_TRY(check_names(settings, KEEL_SETTING_CUSTOM_CALLS, "targets"));
    KEEL_TRY(check_names(settings, KEEL_SETTING_APPLICATION, "packages"));
    KEEL_TRY(check_switch(settings, KEEL_SETTING_STACK, &settings->stack));
    KEEL_TRY(check_switch(settings, KEEL_SETTING_PREFETCH, &settings->prefetch));
    KEEL_TRY(check_switch(settings, KEEL_SETTING_WARN, &settings->warn));
    KEEL_TRY(check_switch(settings, KEEL_SETTING_SHARED_CACHE, &settings->shared_cache));
    KEEL_TRY(check_age(settings, KEEL_SETTING_KEEP_RUNS, &settings->keep_runs));
    KEEL_TRY(check_devices(settings));
    KEEL_TRY(check_jax_cpu(settings));
    KEEL_TRY(check_python_gc(settings));
    KEEL_TRY(check_on_drift(settings));
    KEEL_TRY(check_freeze(settings));
    KEEL_TRY(check_agree(settings));
    KEEL_TRY(check_writes(settings));
    KEEL_TRY(check_profile(settings));
    KEEL_TRY(check_size(settings, KEEL_SETTING_CACHE_LIMIT, &settings->cache_limit));
    return check_size(settings, KEEL_SETTING_MEMORY_LIMIT, &settings->memory_limit);
}

keel_status_t keel_settings_need_folder(const keel_settings_t *settings, keel_setting_t which) {
    if (*keel_settings_text(settings, which)) return NULL;
    return keel_status_make(KEEL_INVALID, "%s: there is no home folder for it; set %s",
                            all_facts[which].key, all_facts[which].environment);
}

keel_status_t keel_settings_trust_folder(const keel_settings_t *settings, keel_setting_t which,
                                         const char *loss) {
    if (settings->shared_cache) return NULL;
    keel_status_t why = keel_directory_check_owner(keel_settings_text(settings, which));
    if (!why) return NULL;
    keel_code_t code = keel_status_code(why);
    keel_status_t status = keel_status_make(
        code, "%s: %s; %s%s", all_facts[which].key, keel_status_message(why), loss,
        code == KEEL_REFUSED ? ": make it yours alone, or set KEEL_SHARED_CACHE=on if you trust "
                               "whoever can write there"
                             : "");
    keel_status_ignore(why);
    return status;
}

keel_status_t keel_settings_load(const char *const flags[KEEL_SETTING_COUNT],
                                 keel_settings_t *out) {
    *out = (keel_settings_t){0};
    keel_status_t status = load_texts(flags, out);
    if (!status) status = check_all(out);
    if (status) keel_settings_deinitialize(out);
    return status;
}
