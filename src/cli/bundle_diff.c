// `keel bundle diff`.
#include "cli/bundle.h"
#include "journal/journal.h"

// A bundle is in the member "bundle" of one object, which may be a line of a journal: the first of
// those is the bundle of the run's first process.
static keel_status_t take_file(const char *path, keel_bundle_t *out) {
    uint8_t *data;
    size_t size;
    KEEL_TRY(cli_read_file(path, &data, &size));
    keel_str_t rest = {(const char *)data, size}, line;
    keel_status_t status = keel_bundle_parse(keel_bytes(data, size), out);
    while (keel_status_code(status) == KEEL_INVALID && keel_str_line(&rest, &line)) {
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

static keel_status_t take_run(const keel_settings_t *settings, const char *text,
                              keel_bundle_t *out) {
    const char *run_dir = keel_settings_text(settings, KEEL_SETTING_RUN_DIR);
    char *id, *path;
    KEEL_TRY(cli_check_folder(settings, KEEL_SETTING_RUN_DIR));
    KEEL_TRY(keel_journal_find_run(run_dir, text, &id));
    keel_status_t status = keel_journal_path(run_dir, id, &path);
    keel_free(id);
    KEEL_TRY(status);
    status = take_file(path, out);
    keel_free(path);
    return status;
}

// A file has precedence over a run.
static keel_status_t take_side(const keel_settings_t *settings, const char *text,
                               keel_bundle_t *out) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(text, &facts);
    bool is_file = !status || strchr(text, '/');
    keel_status_ignore(status);
    return is_file ? take_file(text, out) : take_run(settings, text, out);
}

// Of two probes: whether an entry that one machine makes would be a hit on the other, "" or "NOT ".
// NULL if the bundles do not say.
static const char *fit_of(const keel_bundle_t sides[2], const keel_bundle_changes_t *changes) {
    bool hits = true;
    for (int i = 0; i < 2; ++i) {
        const char *reloads = keel_bundle_find(&sides[i], KEEL_BUNDLE_STEPS, "run again");
        if (!sides[i].known[KEEL_BUNDLE_KEY]) return NULL;
        hits = hits && reloads && strcmp(reloads, "ok") == 0;
    }
    for (size_t i = 0; i < changes->count; ++i)
        hits = hits && changes->list[i].section != KEEL_BUNDLE_KEY;
    return hits ? "" : "NOT ";
}

static void write_text(const keel_bundle_changes_t *changes, const char *fit, keel_buffer_t *out) {
    keel_bundle_changes_text(changes, out);
    if (fit)
        keel_buffer_format(out, "an entry of one machine would %sbe a hit on the other\n", fit);
}

static void write_json(const keel_bundle_changes_t *changes, const char *fit, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "same", !changes->count);
    if (fit) keel_json_bool(&json, "would_hit", !*fit);
    keel_bundle_changes_json(changes, &json);
    keel_json_end_object(&json);
}

static const char details[] =
    "A and B are files that `keel bundle --json` wrote, runs (an id, the beginning of one, or\n"
    "latest), or journals. Differences are printed in order of importance: what changes keys,\n"
    "then clients, other packages, and the rest. A value that only one of the two knows is not a\n"
    "difference. The exit code is 0 if nothing differs, 1 if something does.\n";

int cli_bundle_diff(cli_call_t *call) {
    keel_settings_t settings;
    keel_bundle_t sides[2];
    keel_bundle_changes_t changes = {0};
    keel_buffer_t out;
    bool json = false;
    int code;
    call->name = "bundle diff";
    call->usage = "[OPTION]... A B";
    call->sentence = "compare two bundles";
    call->details = details;
    ++call->arguments;
    cli_switch(call, "--json", "print JSON", &json);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 2, 2, &code)) return code;
    if (!cli_take_packed_runs(call, NULL, &code)) return code;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_settings_load(call->flags, &settings);
    for (int i = 0; i < 2; ++i) {
        keel_bundle_initialize(&sides[i]);
        if (!status) status = take_side(&settings, call->rest[i], &sides[i]);
    }
    if (!status) status = keel_bundle_compare(&sides[0], &sides[1], &changes);
    (json ? write_json : write_text)(&changes, fit_of(sides, &changes), &out);
    if (status) keel_buffer_deinitialize(&out);
    code = status ? cli_fail(status) : cli_answer(&out);
    if (code == CLI_OK && changes.count) code = CLI_NO;
    keel_bundle_changes_deinitialize(&changes);
    for (int i = 0; i < 2; ++i)
        keel_bundle_deinitialize(&sides[i]);
    keel_settings_deinitialize(&settings);
    return code;
}
