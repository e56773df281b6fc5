#define _GNU_SOURCE // memmem
#include "cli/bundle.h"
#include "journal/journal.h"

typedef struct diff_asked_t {
    keel_settings_t settings;
    bool json, all;
} diff_asked_t;

// A bundle is in the member "bundle" of one object, which may be a line of a journal: the first of
// those is the bundle of the run's first process.
keel_status_t cli_take_bundle(const char *path, keel_bundle_t *out) {
    static const char name[] = "\"bundle\"";
    uint8_t *data;
    size_t size;
    KEEL_TRY(cli_read_file(path, &data, &size));
    keel_str_t rest = {(const char *)data, size}, line;
    keel_status_t status = keel_bundle_parse(keel_bytes(data, size), out);
    while (keel_status_code(status) == KEEL_INVALID && keel_str_line(&rest, &line)) {
        if (!memmem(line.data, line.size, name, sizeof name - 1)) continue;
        keel_status_ignore(status);
        status = keel_bundle_parse(keel_str_bytes(line), out);
    }
    keel_free(data);
    if (keel_status_code(status) != KEEL_INVALID)
        return status ? keel_status_annotate(status, "%s", path) : NULL;
    keel_status_ignore(status);
    return keel_status_make(KEEL_INVALID,
                            "%s: contains no bundle; name a file from `keel bundle --json`, or a "
                            "run that made a client",
                            path);
}

static keel_status_t take_run(const diff_asked_t *asked, const char *text, keel_bundle_t *out) {
    const char *run_dir = keel_settings_text(&asked->settings, KEEL_SETTING_RUN_DIR);
    char *id, *path;
    KEEL_TRY(cli_check_folder(&asked->settings, KEEL_SETTING_RUN_DIR));
    KEEL_TRY(keel_journal_find_run(run_dir, text, &id));
    keel_status_t status = keel_journal_path(run_dir, id, &path);
    keel_free(id);
    KEEL_TRY(status);
    status = cli_take_bundle(path, out);
    keel_free(path);
    return status;
}

// A file has precedence over a run.
static keel_status_t open_side(const diff_asked_t *asked, const char *text, keel_bundle_t *out) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(text, &facts);
    bool is_file = !status || strchr(text, '/');
    keel_status_ignore(status);
    return is_file ? cli_take_bundle(text, out) : take_run(asked, text, out);
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
