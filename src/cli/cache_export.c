// Exported files: keel-remote writes and reads them (courier/export.h), since what comes from
// elsewhere is checked there.
#include <stdio.h>

#include "cli/cache.h"
#include "text/write.h"

typedef struct answer_t {
    cache_fates_t fates;
    keel_buffer_t list; // what was not taken, in text or JSON
    keel_json_t array;
    bool json;
    char *error; // NULL: it was done; part of the answer
} answer_t;

static void add_left(answer_t *answer, const char *word, const char *key, const char *why) {
    if (answer->json) {
        keel_json_object(&answer->array, NULL);
        keel_json_string(&answer->array, "key", key);
        keel_json_string(&answer->array, "got", word);
        keel_json_string(&answer->array, "why", why);
        keel_json_end_object(&answer->array);
        return;
    }
    keel_buffer_format(&answer->list, "%.16s  %s: ", key, word);
    keel_write_foreign(&answer->list, why);
    keel_buffer_byte(&answer->list, '\n');
}

// "there KEY", "untrusted KEY WHY", "done", "error WHY"
static void take_line(answer_t *answer, char *line) {
    char *key = strchr(line, ' ');
    if (!key) return;
    *key++ = 0;
    if (strcmp(line, "error") == 0) {
        answer->error = key;
        return;
    }
    char *why = strchr(key, ' ');
    if (why) *why++ = 0;
    cache_fate_t fate = cache_fate_of(line);
    cache_fates_add(&answer->fates, fate, why);
    if (fate != CACHE_FATE_there) add_left(answer, line, key, why ? why : "");
}

static void take_lines(answer_t *answer, char *text) {
    for (char *end; (end = strchr(text, '\n')); text = end + 1) {
        *end = 0;
        take_line(answer, text);
    }
}

static void tell(const answer_t *answer, const char *path, keel_buffer_t *out) {
    if (!answer->json) {
        keel_buffer_str(out, keel_bytes_str(keel_buffer_bytes(&answer->list)));
        keel_write_foreign(out, path);
        keel_buffer_text(out, "  ");
        cache_fates_text(&answer->fates, out);
        keel_buffer_byte(out, '\n');
        return;
    }
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "file", path);
    cache_fates_json(&answer->fates, &json);
    keel_buffer_str(keel_json_value(&json, "left"),
                    keel_bytes_str(keel_buffer_bytes(&answer->list)));
    keel_json_end_object(&json);
}

static keel_status_t take_answer(int code, keel_buffer_t *said, const char *path, bool json,
                                 keel_buffer_t *out, cache_work_t *work) {
    answer_t answer = {.json = json};
    keel_buffer_initialize(&answer.list, 0);
    answer.array = keel_json(&answer.list, KEEL_JSON_SPACED);
    if (json) keel_json_array(&answer.array, NULL);
    if (said->size) take_lines(&answer, (char *)said->data);
    if (json) keel_json_end_array(&answer.array);
    keel_status_t status = keel_buffer_status(&answer.list);
    if (!status && answer.error)
        status = keel_status_make(KEEL_INVALID, "%s", answer.error);
    else if (!status && code != 0)
        status = keel_status_make(KEEL_IO, "keel-remote ended before it was done");
    if (!status) tell(&answer, path, out);
    if (!cache_fates_are_good(&answer.fates) || answer.fates.counts[CACHE_FATE_none])
        work->code = CLI_NO;
    keel_buffer_deinitialize(&answer.list);
    return status;
}

static keel_status_t run_helper(const keel_settings_t *settings, const char *const *how, bool json,
                                keel_buffer_t *out, cache_work_t *work) {
    keel_buffer_t said;
    int code;
    KEEL_TRY(cache_run_helper(settings, how, &said, &code));
    keel_status_t status = take_answer(code, &said, work->argument, json, out, work);
    keel_buffer_deinitialize(&said);
    return status;
}

// ---- the commands ------------------------------------------------------------------------------

static keel_status_t write_keys(const cache_keys_t *keys, const char *path) {
    char hex[KEEL_DIGEST_HEX];
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    for (size_t i = 0; i < keys->count; ++i) {
        keel_digest_hex(&keys->list[i], hex);
        keel_buffer_format(&text, "%s\n", hex);
    }
    return cli_write_output(path, &text);
}

static keel_status_t export_keys(const keel_settings_t *settings, const cache_keys_t *keys,
                                 bool json, keel_buffer_t *out, cache_work_t *work) {
    char *folder, *list;
    KEEL_TRY(cli_temporary_make("export", &folder));
    keel_status_t status = keel_path(&list, "%s/keys", folder);
    if (!status) {
        const char *const how[] = {
            "--export", work->argument, "--keys", list, work->trusts ? "--trusts" : NULL, "yes",
            NULL};
        status = write_keys(keys, list);
        if (!status) status = run_helper(settings, how, json, out, work);
        keel_free(list);
    }
    keel_status_ignore(cli_temporary_remove(folder));
    keel_free(folder);
    return status;
}

keel_status_t cache_export(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                           cache_work_t *work) {
    cache_keys_t keys;
    KEEL_TRY(cli_check_output(work->argument));
    keel_status_t status = cache_select(settings, work, &keys);
    if (!status) status = export_keys(settings, &keys, json, out, work);
    cache_keys_free(&keys);
    return status;
}

keel_status_t cache_import(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                           cache_work_t *work) {
    const char *const how[] = {"--import", work->argument, work->trusts ? "--trusts" : NULL, "yes",
                               NULL};
    KEEL_TRY(keel_settings_need_folder(settings, KEEL_SETTING_CACHE_DIR));
    return run_helper(settings, how, json, out, work);
}
