#define _GNU_SOURCE // memrchr
#include "analysis/answers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "analysis/analysis.h"
#include "journal/journal.h"
#include "journal/line.h"

// As for a journal: Keel did not write a file larger than this.
#define ANSWERS_LIMIT ((uint64_t)4 << 30)

// ---- reading -----------------------------------------------------------------------------------

static bool is_event(const json_t *line, const char *name) {
    return strcmp(keel_event_text(line, "event"), name) == 0;
}

static bool is_ours(keel_bytes_t bytes) {
    json_t *line = keel_journal_event(keel_bytes_str(bytes));
    bool ours = is_event(line, "analysis") &&
                strcmp(keel_event_text(line, "keel"), KEEL_VERSION) == 0 &&
                keel_event_count(line, "revision") == KEEL_ANALYSIS_REVISION;
    json_decref(line);
    return ours;
}

static bool read_end(keel_bytes_t bytes, answers_t *out) {
    json_t *line = keel_journal_event(keel_bytes_str(bytes));
    bool whole = is_event(line, "covered");
    if (whole) {
        out->bytes = keel_event_count(line, "bytes");
        out->asked = keel_event_count(line, "asked");
    }
    json_decref(line);
    return whole;
}

// The first line, the answers, the last line; false if it is incomplete, or from another Keel.
static bool take_apart(keel_bytes_t bytes, answers_t *out) {
    const uint8_t *first = bytes.size ? memchr(bytes.data, '\n', bytes.size) : NULL;
    if (!first || bytes.data[bytes.size - 1] != '\n') return false;
    size_t head = (size_t)(first - bytes.data) + 1;
    const uint8_t *last = memrchr(bytes.data, '\n', bytes.size - 1);
    if (bytes.size == head || !last) return false;
    size_t tail = (size_t)(last - bytes.data) + 1;
    out->lines = keel_bytes(bytes.data + head, tail - head);
    return is_ours(keel_bytes(bytes.data, head)) &&
           read_end(keel_bytes(bytes.data + tail, bytes.size - tail), out);
}

keel_status_t answers_read(const char *run_dir, const char *id, answers_t *out) {
    char *path;
    size_t size;
    keel_file_facts_t facts;
    *out = (answers_t){.bytes = 0};
    KEEL_TRY(keel_journal_explained_path(run_dir, id, &path));
    keel_status_t status =
        keel_file_read_with_facts(path, ANSWERS_LIMIT, &out->data, &size, &facts);
    keel_free(path);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    if (status) {
        *out = (answers_t){.bytes = 0};
        return NULL;
    }
    if (!take_apart(keel_bytes(out->data, size), out)) answers_free(out);
    return NULL;
}

void answers_free(answers_t *answers) {
    keel_free(answers->data);
    *answers = (answers_t){.bytes = 0};
}

// ---- writing -----------------------------------------------------------------------------------

static const char ending[] = ".explained";

// ".<pid>.explained"
static keel_status_t remove_stale(void *context, const char *name) {
    const char *folder = context;
    char *end, *path;
    if (*name != '.') return NULL;
    long pid = strtol(name + 1, &end, 10);
    if (pid <= 0 || strcmp(end, ending) != 0) return NULL;
    if (kill((pid_t)pid, 0) == 0 || errno != ESRCH) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", folder, name));
    keel_status_ignore(keel_file_remove(path));
    keel_free(path);
    return NULL;
}

// Of the lines that describe the file itself: they have neither a time nor a process.
static keel_json_t begin_line(keel_buffer_t *text, const char *event) {
    keel_json_t line = keel_json(text, KEEL_JSON_COMPACT);
    keel_json_object(&line, NULL);
    keel_json_string(&line, "event", event);
    return line;
}

static keel_status_t write_head(const char *path, const answers_t *known) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_json_t line = begin_line(&text, "analysis");
    keel_json_string(&line, "keel", KEEL_VERSION);
    keel_json_unsigned(&line, "revision", KEEL_ANALYSIS_REVISION);
    keel_line_end(&line);
    keel_buffer_append(&text, known->lines.data, known->lines.size);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_file_remove(path);
    if (!status) status = keel_file_create(path, keel_buffer_bytes(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

keel_status_t answers_begin(const char *run_dir, const char *id, const answers_t *known,
                            char **out_path) {
    char *folder;
    KEEL_TRY(keel_path(&folder, "%s/%s", run_dir, id));
    keel_status_t status = keel_directory_walk(folder, remove_stale, folder);
    keel_status_ignore(status);
    status = keel_path(out_path, "%s/.%ld%s", folder, (long)getpid(), ending);
    keel_free(folder);
    KEEL_TRY(status);
    status = write_head(*out_path, known);
    if (status) keel_free(*out_path);
    return status;
}

keel_status_t answers_end(const char *run_dir, const char *id, const char *path, uint64_t bytes,
                          uint64_t asked) {
    char *final;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_json_t line = begin_line(&text, "covered");
    keel_json_unsigned(&line, "bytes", bytes);
    keel_json_unsigned(&line, "asked", asked);
    keel_line_end(&line);
    keel_status_t appended = keel_buffer_status(&text);
    if (!appended) appended = keel_file_append(path, keel_buffer_bytes(&text));
    keel_buffer_deinitialize(&text);
    KEEL_TRY(appended);
    KEEL_TRY(keel_journal_explained_path(run_dir, id, &final));
    keel_status_t status = keel_file_rename(path, final);
    keel_free(final);
    return status;
}
