#define _GNU_SOURCE
// The figures of a run that goes on, as files beside its journal. They are counted from the lines
// of the journal that this process wrote, read back: so nothing is added to what a client waits
// for, and `keel stats` counts the same lines in the same way.
#include "engine/figures.h"
#include "metrics/metrics.h"

struct figures_t {
    pthread_mutex_t lock;
    keel_metrics_t metrics;
    char *journal, *json, *prometheus; // paths
    uint64_t read;                     // how much of the journal was counted
    keel_digest_t written;             // of the JSON that stands in the file
    bool off;                          // something failed, and that was said
};

static keel_status_t find_paths(const keel_engine_t *engine, figures_t *figures) {
    const char *run_dir = keel_settings_text(&engine->settings, KEEL_SETTING_RUN_DIR);
    const char *run = keel_journal_id(engine->journal);
    KEEL_TRY(keel_journal_path(run_dir, run, &figures->journal));
    KEEL_TRY(keel_metrics_path(run_dir, run, engine->pid, "json", &figures->json));
    return keel_metrics_path(run_dir, run, engine->pid, "prom", &figures->prometheus);
}

keel_status_t figures_create(keel_engine_t *engine) {
    void *memory;
    if (!engine->journal) return NULL;
    KEEL_TRY(keel_calloc(1, sizeof(figures_t), &memory));
    figures_t *figures = memory;
    pthread_mutex_init(&figures->lock, NULL);
    keel_metrics_initialize(&figures->metrics);
    figures->metrics.pid = engine->pid;
    keel_status_t status = find_paths(engine, figures);
    if (status) {
        figures_destroy(figures);
        return status;
    }
    // What other processes of the run wrote before is not this one's.
    keel_file_facts_t facts;
    status = keel_file_facts(figures->journal, &facts);
    if (!status) figures->read = facts.size;
    keel_status_ignore(status);
    engine->figures = figures;
    return NULL;
}

void figures_destroy(figures_t *figures) {
    if (!figures) return;
    keel_metrics_deinitialize(&figures->metrics);
    keel_free(figures->journal);
    keel_free(figures->json);
    keel_free(figures->prometheus);
    pthread_mutex_destroy(&figures->lock);
    keel_free(figures);
}

static keel_status_t count(void *context, const struct json_t *event) {
    return keel_metrics_event(context, event);
}

// Whole lines only: another process may be writing the last one.
static keel_status_t count_new(figures_t *figures) {
    enum { MOST = 1 << 24 };
    for (;;) {
        uint8_t *data;
        size_t size;
        KEEL_TRY(keel_file_read_from(figures->journal, figures->read, MOST, &data, &size));
        const uint8_t *last = size ? memrchr(data, '\n', size) : NULL;
        size_t whole = last ? (size_t)(last - data) + 1 : 0;
        keel_journal_damage_t damage;
        keel_status_t status =
            keel_journal_parse(keel_bytes(data, whole), count, &figures->metrics, &damage);
        keel_free(data);
        KEEL_TRY(status);
        figures->read += whole;
        if (!whole || size < MOST) return NULL;
    }
}

static keel_status_t write_files(keel_engine_t *engine, figures_t *figures) {
    const char *run = keel_journal_id(engine->journal);
    keel_buffer_t json, prometheus;
    keel_buffer_initialize(&json, 0);
    keel_buffer_initialize(&prometheus, 0);
    keel_metrics_json(&figures->metrics, run, &json);
    keel_metrics_prometheus(&figures->metrics, run, &prometheus);
    keel_status_t status = keel_buffer_status(&json);
    if (!status) status = keel_buffer_status(&prometheus);
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&json));
    bool moved = !keel_digest_equal(&digest, &figures->written);
    if (!status && moved) status = keel_file_replace(figures->json, keel_buffer_bytes(&json));
    if (!status && moved)
        status = keel_file_replace(figures->prometheus, keel_buffer_bytes(&prometheus));
    if (!status) figures->written = digest;
    keel_buffer_deinitialize(&json);
    keel_buffer_deinitialize(&prometheus);
    return status;
}

void figures_update(keel_engine_t *engine) {
    figures_t *figures = engine->figures;
    if (!figures) return;
    pthread_mutex_lock(&figures->lock);
    keel_status_t status = figures->off ? NULL : count_new(figures);
    if (!status && !figures->off) status = write_files(engine, figures);
    figures->off = figures->off || status;
    pthread_mutex_unlock(&figures->lock);
    if (status) engine_fell_through(engine, "metrics", NULL, status);
}
