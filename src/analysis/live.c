#include "analysis/live.h"

#include <jansson.h>

void live_initialize(live_t *live, const char *run_dir, const char *run) {
    *live = (live_t){.run_dir = run_dir, .run = run};
}

void live_deinitialize(live_t *live) {
    for (size_t i = 0; i < live->count; ++i) {
        keel_metrics_deinitialize(&live->processes[i]->metrics);
        keel_free(live->processes[i]);
    }
    keel_free(live->processes);
    *live = (live_t){.run_dir = NULL};
}

static keel_status_t add_process(live_t *live, int64_t pid, live_process_t **out) {
    void *grown = live->processes, *memory;
    KEEL_TRY(keel_realloc_array(live->count + 1, sizeof *live->processes, &grown));
    live->processes = grown;
    KEEL_TRY(keel_calloc(1, sizeof **out, &memory));
    *out = live->processes[live->count++] = memory;
    keel_metrics_initialize(&(*out)->metrics);
    (*out)->metrics.pid = pid;
    return NULL;
}

static keel_status_t process_of(live_t *live, int64_t pid, live_process_t **out) {
    for (size_t i = live->count; i > 0; --i) {
        *out = live->processes[i - 1];
        if ((*out)->metrics.pid == pid) return NULL;
    }
    return add_process(live, pid, out);
}

keel_status_t live_event(live_t *live, const json_t *event) {
    int64_t pid = json_integer_value(json_object_get(event, "pid"));
    live_process_t *process;
    if (pid <= 0) return NULL;
    KEEL_TRY(process_of(live, pid, &process));
    return keel_metrics_event(&process->metrics, event);
}

// ---- the files ---------------------------------------------------------------------------------

// Readers see the old figures or the new ones. They are only a convenience, so no fsync.
static keel_status_t replace(const live_t *live, int64_t pid, const char *kind,
                             keel_bytes_t bytes) {
    char *path, *fresh;
    KEEL_TRY(keel_metrics_path(live->run_dir, live->run, pid, kind, &path));
    keel_status_t status = keel_path(&fresh, "%s.new", path);
    if (!status) {
        status = keel_file_remove(fresh);
        if (!status) status = keel_file_create(fresh, bytes);
        if (!status) status = keel_file_rename(fresh, path);
        keel_free(fresh);
    }
    keel_free(path);
    return status;
}

static keel_status_t write_process(const live_t *live, live_process_t *process) {
    keel_buffer_t json, prometheus;
    keel_buffer_initialize(&json, 0);
    keel_buffer_initialize(&prometheus, 0);
    keel_metrics_json(&process->metrics, live->run, &json);
    keel_metrics_prometheus(&process->metrics, live->run, &prometheus);
    keel_status_t status = keel_buffer_status(&json);
    if (!status) status = keel_buffer_status(&prometheus);
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&json));
    bool moved = !keel_digest_equal(&digest, &process->written);
    int64_t pid = process->metrics.pid;
    if (!status && moved) status = replace(live, pid, "json", keel_buffer_bytes(&json));
    if (!status && moved) status = replace(live, pid, "prom", keel_buffer_bytes(&prometheus));
    if (!status) process->written = digest;
    keel_buffer_deinitialize(&json);
    keel_buffer_deinitialize(&prometheus);
    return status;
}

keel_status_t live_write(live_t *live) {
    for (size_t i = 0; i < live->count; ++i)
        KEEL_TRY(write_process(live, live->processes[i]));
    return NULL;
}
