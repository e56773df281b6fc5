#include <jansson.h>

#include "cli/bundle.h"
#include "journal/journal.h"

typedef struct diff_asked_t {
    keel_settings_t settings;
    bool json, all;
} diff_asked_t;

typedef struct bundle_search_t {
    keel_bundle_t *out;
    bool found;
} bundle_search_t;

// The bundle of the run's first process.
static keel_status_t visit_event(void *context, const json_t *event) {
    bundle_search_t *search = context;
    const char *kind = json_string_value(json_object_get(event, "event"));
    const json_t *bundle = json_object_get(event, "bundle");
    if (search->found || strcmp(kind, "bundle") != 0 || !json_is_object(bundle)) return NULL;
    search->found = true;
    return keel_bundle_take(bundle, search->out);
}

static keel_status_t take_events(keel_bytes_t bytes, const char *path, keel_bundle_t *out) {
    bundle_search_t search = {out, false};
    keel_journal_damage_t damage;
    KEEL_TRY(keel_journal_parse(bytes, visit_event, &search, &damage));
    if (search.found) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "%s: contains no bundle; name a file from `keel bundle --json`, or a "
                            "run that made a client",
                            path);
}

// A bundle is one JSON object with a "bundle"; anything else may be a journal.
static keel_status_t take_file(const char *path, keel_bundle_t *out) {
    uint8_t *data;
    size_t size;
    KEEL_TRY(cli_read_file(path, &data, &size));
    keel_status_t status = keel_bundle_parse(keel_bytes(data, size), out);
    if (keel_status_code(status) == KEEL_INVALID && !out->count) {
        keel_status_t events = take_events(keel_bytes(data, size), path, out);
        keel_status_ignore(status);
        status = events;
    }
    keel_free(data);
    return keel_status_code(status) == KEEL_UNSUPPORTED ? keel_status_annotate(status, "%s", path)
                                                        : status;
}

static keel_status_t take_run(const diff_asked_t *asked, const char *text, keel_bundle_t *out) {
    const char *run_dir = keel_settings_text(&asked->settings, KEEL_SETTING_RUN_DIR);
    char *id, *path;
    KEEL_TRY(cli_check_folder(&asked->settings, KEEL_SETTING_RUN_DIR));
    KEEL_TRY(keel_journal_find_run(run_dir, text, &id));
    keel_status_t status = keel_journal_path(run_dir, id, &path);
    keel_free(id);
    KEEL_TRY(status);
    status = take_file(path, out);
    keel_free(path);
    return status;
}

// A file has precedence over a run.
static keel_status_t open_side(const diff_asked_t *asked, const char *text, keel_bundle_t *out) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(text, &facts);
    bool is_file = !status || strchr(text, '/');
    keel_status_ignore(status);
    return is_file ? take_file(text, out) : take_run(asked, text, out);
}

static void write_json(const keel_bundle_changes_t *changes, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "same", !changes->count);
    keel_bundle_changes_json(changes, &json);
    keel_json_end_object(&json);
}

static keel_status_t compare_sides(const diff_asked_t *asked, char **names, keel_buffer_t *out,
                                   bool *out_same) {
    keel_bundle_t sides[2];
    keel_bundle_changes_t changes = {0};
    keel_status_t status = NULL;
    for (int i = 0; i < 2; ++i)
        keel_bundle_initialize(&sides[i]);
    for (int i = 0; i < 2 && !status; ++i)
        status = open_side(asked, names[i], &sides[i]);
    if (!status) status = keel_bundle_compare(&sides[0], &sides[1], &changes);
    *out_same = !status && !changes.count;
    if (!status && asked->json)
        write_json(&changes, out);
    else if (!status)
        keel_bundle_changes_text(&changes, asked->all, KEEL_BUNDLE_WEIGHT_REST, out);
    keel_bundle_changes_deinitialize(&changes);
    for (int i = 0; i < 2; ++i)
        keel_bundle_deinitialize(&sides[i]);
    return status;
}

static const char details[] =
    "A and B are files that `keel bundle --json` wrote, runs (an id, the beginning of one, or\n"
    "latest), or journals. Differences are printed in order of importance: what changes keys,\n"
    "then clients, other packages, and the rest. A value that only one of the two knows is not a\n"
    "difference. The exit code is 0 if nothing differs, 1 if something does.\n";

int cli_bundle_diff(cli_call_t *call) {
    diff_asked_t asked = {0};
    int code;
    bool same = false;
    call->name = "bundle diff";
    call->usage = "[OPTION]... A B";
    call->sentence = "compare two bundles";
    call->details = details;
    ++call->arguments;
    cli_switch(call, "--json", "print JSON", &asked.json);
    cli_switch(call, "--all", "print long values in full", &asked.all);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 2, 2, &code)) return code;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_settings_load(call->flags, &asked.settings);
    if (!status) status = compare_sides(&asked, call->rest, &out, &same);
    keel_settings_deinitialize(&asked.settings);
    if (status) {
        keel_buffer_deinitialize(&out);
        return cli_fail(status);
    }
    code = cli_answer(&out);
    return code == CLI_OK && !same ? CLI_NO : code;
}
