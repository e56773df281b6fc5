// Writes the bundle of this process once, when its first client is made. The parts that read the
// environment run on the client's thread, since another thread may change it; the rest runs in the
// background.
#include <stdio.h>
#include <stdlib.h>

#include "bundle/bundle.h"
#include "bundle/versions.h"
#include "engine/background.h"
#include "engine/bundling.h"
#include "engine/once.h"

typedef struct bundling_t {
    task_t task;
    keel_bundle_t bundle;
    char told[64];  // what `keel run` has already reported
    double seconds; // on the client's thread
} bundling_t;

static void destroy_bundling(task_t *head) {
    bundling_t *bundling = (bundling_t *)head;
    keel_bundle_deinitialize(&bundling->bundle);
    keel_free(bundling);
}

static keel_bundle_request_t request_of(const keel_engine_t *engine, PJRT_Client *client) {
    return (keel_bundle_request_t){.is_client = true,
                                   .plugin = engine->plugin->path,
                                   .build = &engine->plugin_build,
                                   .api = engine->api,
                                   .device_client = client};
}

static const char *told(void) {
    const char *text = getenv("KEEL_TOLD");
    return text ? text : "";
}

// A loaded client is the one that runs; the packages of others say nothing about this process.
static void judge_clients(const bundling_t *bundling) {
    const char *loaded =
        keel_bundle_find(&bundling->bundle, KEEL_BUNDLE_INTERPRETER, KEEL_BUNDLE_LOADED);
    for (size_t i = 0; loaded && i < KEEL_BUNDLE_CLIENTS_TRIED; ++i) {
        keel_bundle_verdict_t verdict;
        const char *name = keel_bundle_tried[i].name;
        if (!strstr(loaded, name) || strstr(bundling->told, name)) continue;
        keel_bundle_judge_client(&bundling->bundle, i, &verdict);
        if (*verdict.text) keel_log_once(name, "%s", verdict.text);
    }
}

static keel_status_t write_bundle(keel_engine_t *engine, bundling_t *bundling) {
    uint64_t started = keel_clock_monotonic();
    keel_bundle_request_t request = request_of(engine, bundling->task.client);
    keel_bundle_collect(&request, &bundling->bundle);
    KEEL_TRY(keel_bundle_status(&bundling->bundle));
    judge_clients(bundling);
    keel_buffer_t json;
    keel_buffer_initialize(&json, KEEL_BUNDLE_JSON_LIMIT);
    keel_bundle_json(&bundling->bundle, &json);
    keel_status_t status = keel_buffer_status(&json);
    if (!status)
        keel_journal_bundle(
            engine->journal,
            &(keel_journal_bundle_t){.json = keel_bytes_str(keel_buffer_bytes(&json)),
                                     .seconds = keel_seconds(keel_clock_monotonic() - started),
                                     .client_seconds = bundling->seconds});
    keel_buffer_deinitialize(&json);
    return status;
}

static void run_bundling(keel_engine_t *engine, task_t *head) {
    keel_status_t status = write_bundle(engine, (bundling_t *)head);
    if (status) engine_fell_through(engine, "bundle", NULL, status);
}

// ---- on the client's thread --------------------------------------------------------------------

static keel_status_t prepare(keel_engine_t *engine, PJRT_Client *client, bundling_t **out) {
    void *memory;
    uint64_t started = keel_clock_monotonic();
    KEEL_TRY(keel_calloc(1, sizeof(bundling_t), &memory));
    *out = memory;
    (*out)->task = (task_t){client, run_bundling, destroy_bundling, NULL, 0};
    snprintf((*out)->told, sizeof(*out)->told, "%.63s", told());
    keel_bundle_initialize(&(*out)->bundle);
    keel_bundle_request_t request = request_of(engine, client);
    keel_bundle_environment(&request, &(*out)->bundle);
    (*out)->seconds = keel_seconds(keel_clock_monotonic() - started);
    return keel_bundle_status(&(*out)->bundle);
}

static void judge_plugin(const keel_engine_t *engine) {
    const PJRT_Api_Version *version = &engine->api->pjrt_api_version;
    keel_bundle_verdict_t verdict;
    char api[32];
    snprintf(api, sizeof api, "%d.%d", version->major_version, version->minor_version);
    keel_bundle_judge_api(engine->plugin->path, api, &verdict);
    if (*verdict.text && !strstr(told(), "plugin"))
        keel_log_once("plugin version", "%s", verdict.text);
}

void bundling_begin(keel_engine_t *engine, PJRT_Client *client) {
    bundling_t *bundling = NULL;
    if (!once_first(engine->once, ONCE_BUNDLE, keel_bytes("", 0))) return;
    judge_plugin(engine);
    if (!engine->journal) return;
    keel_status_t status = prepare(engine, client, &bundling);
    if (!status) status = background_add(engine, &bundling->task);
    if (!status) return;
    if (bundling) destroy_bundling(&bundling->task);
    engine_fell_through(engine, "bundle", NULL, status);
}
