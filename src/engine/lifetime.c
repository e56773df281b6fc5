// The engine's beginning and end, and its clients.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/background.h"
#include "engine/bundling.h"
#include "engine/counters.h"
#include "engine/executables.h"
#include "engine/flow.h"
#include "engine/flow_journal.h"
#include "engine/fork.h"
#include "engine/functions.h"
#include "engine/handed.h"
#include "engine/handlers.h"
#include "engine/host_ops.h"
#include "engine/makers.h"
#include "engine/memory.h"
#include "engine/once.h"
#include "engine/order.h"
#include "engine/pace.h"
#include "engine/prefetch.h"
#include "engine/progress.h"
#include "engine/proofs.h"
#include "engine/rehearsal.h"
#include "engine/release.h"
#include "engine/repeats.h"
#include "engine/sent.h"
#include "engine/steps.h"
#include "engine/tiers.h"
#include "engine/transfers.h"

// Whoever can put files into the cache could run code as this user.
static void choose_cache_dir(keel_engine_t *engine) {
    const char *folder = keel_settings_text(&engine->settings, KEEL_SETTING_CACHE_DIR);
    engine->cache_dir = "";
    keel_status_t status = keel_settings_need_folder(&engine->settings, KEEL_SETTING_CACHE_DIR);
    if (status) {
        keel_log_once("cache_dir", "%s; nothing is cached%s", keel_status_message(status),
                      keel_status_place(status));
    } else if ((status = keel_settings_trust_folder(&engine->settings, KEEL_SETTING_CACHE_DIR,
                                                    "nothing is cached"))) {
        keel_log_once("cache_dir", "%s", keel_status_message(status));
        keel_journal_store_error(engine->journal, "open", NULL, keel_status_message(status));
    } else {
        engine->cache_dir = folder;
    }
    keel_status_ignore(status);
}

static bool is_there(const char *folder) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(folder, &facts);
    keel_status_ignore(status);
    return !status;
}

// If nothing is to be stored, no folder is made either.
keel_status_t engine_build_of(const keel_engine_t *engine, const char *path, keel_digest_t *out) {
    char *folder;
    if (!*engine->cache_dir) return keel_key_plugin_build(path, NULL, out);
    KEEL_TRY(keel_path(&folder, "%s/plugins", engine->cache_dir));
    bool remembers = engine->settings.mode != KEEL_MODE_READONLY || is_there(folder);
    if (remembers) keel_key_keep_digests(folder);
    keel_status_t status = keel_key_plugin_build(path, remembers ? folder : NULL, out);
    keel_free(folder);
    return status;
}

// From the words of the process's own command line, read from the system.
static keel_status_t name_script(char *line, size_t size, char **out) {
    enum { WORDS = 1024 };
    char *words[WORDS + 1], folder[PATH_MAX];
    size_t count = 0;
    for (size_t at = 0; at < size && count < WORDS; at += strlen(words[count++]) + 1)
        words[count] = line + at;
    words[count] = NULL;
    return keel_host_script(words, getcwd(folder, sizeof folder) ? folder : "", out);
}

static keel_status_t find_script(char **out) {
    enum { LIMIT = 1 << 22 };
    uint8_t *data;
    size_t size;
    char *line;
    KEEL_TRY(keel_file_read("/proc/self/cmdline", LIMIT, &data, &size));
    keel_status_t status = keel_strdup(keel_bytes_str(keel_bytes(data, size)), &line);
    keel_free(data);
    if (status) return status;
    status = name_script(line, size, out);
    keel_free(line);
    return status;
}

// So that a killed process has already recorded most of its executions.
static void journal_executes(keel_engine_t *engine) {
    keel_journal_counts_t counts;
    steps_journal(engine);
    flow_journal(engine);
    makers_journal(engine, false);
    order_journal(engine);
    rehearsal_journal(engine);
    keel_status_t status = counters_collect(engine->counters, &counts);
    if (counts.size) keel_journal_executes(engine->journal, counts, (keel_journal_leading_t){0});
    keel_free((void *)(uintptr_t)counts.data);
    keel_status_ignore(status);
    repeats_journal(engine);
}

static void look_around(keel_engine_t *engine) {
    if (pace_is_due(engine->pace, keel_clock_monotonic())) {
        journal_executes(engine);
        memory_sample(engine);
    }
    prefetch_keep_plan(engine, false);
    executables_watch_gangs(engine);
}

// KEEL_RUN_ID is not a setting: `keel run` passes the run's id to its child in it.
static keel_status_t make_journal(keel_engine_t *engine) {
    KEEL_TRY(keel_settings_need_folder(&engine->settings, KEEL_SETTING_RUN_DIR));
    return keel_journal_open(keel_settings_text(&engine->settings, KEEL_SETTING_RUN_DIR),
                             getenv("KEEL_RUN_ID"), &engine->journal);
}

// Whoever can write there could change what reports say, or have a run written or removed
// elsewhere.
static void open_journal(keel_engine_t *engine) {
    keel_status_t status =
        keel_settings_trust_folder(&engine->settings, KEEL_SETTING_RUN_DIR, "nothing is recorded");
    if (status) {
        keel_log_once("run_dir", "%s", keel_status_message(status));
        keel_status_ignore(status);
        return;
    }
    status = make_journal(engine);
    if (status) engine_fell_through(engine, "journal", NULL, status);
}

static keel_status_t create(keel_engine_t *engine, bool records) {
    KEEL_TRY(clients_create(engine));
    KEEL_TRY(functions_create(engine));
    KEEL_TRY(once_create(engine));
    KEEL_TRY(pace_create(engine));
    KEEL_TRY(progress_create(engine));
    KEEL_TRY(proofs_create(engine));
    KEEL_TRY(counters_create(engine));
    KEEL_TRY(sites_create(engine));
    KEEL_TRY(sent_create(engine));
    KEEL_TRY(flow_create(engine));
    KEEL_TRY(makers_create(engine));
    KEEL_TRY(transfers_create(engine));
    KEEL_TRY(order_create(engine));
    KEEL_TRY(steps_create(engine));
    KEEL_TRY(executables_create(engine));
    KEEL_TRY(background_create(engine, look_around));
    KEEL_TRY(release_create(engine));
    KEEL_TRY(repeats_create(engine));
    KEEL_TRY(memory_create(engine));
    KEEL_TRY(handed_create(engine));
    KEEL_TRY(handlers_create(engine));
    KEEL_TRY(host_ops_create(engine));
    KEEL_TRY(prefetch_create(engine));
    if (records) open_journal(engine);
    choose_cache_dir(engine);
    keel_status_t status = find_script(&engine->script);
    if (status) engine_fell_through(engine, "script", NULL, status);
    // Several plugins may call themselves "cpu": only the file identifies the one that compiled an
    // entry.
    KEEL_TRY(engine_build_of(engine, engine->plugin->path, &engine->plugin_build));
    return tiers_open(engine);
}

// Only for an engine that nobody uses yet.
static void destroy_engine(keel_engine_t *engine) {
    keel_journal_close(engine->journal);
    keel_tiers_close(&engine->tiers);
    background_destroy(engine->background);
    rehearsal_destroy(engine->rehearsal);
    repeats_destroy(engine->repeats);
    release_destroy(engine->release);
    memory_destroy(engine->memory_use);
    host_ops_destroy(engine->host_ops);
    handlers_destroy(engine->handlers);
    handed_destroy(engine->handed);
    prefetch_destroy(engine->prefetch);
    keel_free(engine->script);
    executables_destroy(engine->executables);
    steps_destroy(engine->steps);
    order_destroy(engine->order);
    transfers_destroy(engine->transfers);
    makers_destroy(engine->makers);
    flow_destroy(engine->flow);
    sent_destroy(engine->sent);
    sites_destroy(engine->sites);
    counters_destroy(engine->counters);
    proofs_destroy(engine->proofs);
    progress_destroy(engine->progress);
    pace_destroy(engine->pace);
    once_destroy(engine->once);
    functions_destroy(engine->functions);
    clients_destroy(engine->clients);
    keel_settings_deinitialize(&engine->settings);
    keel_free(engine);
}

keel_status_t keel_engine_create(keel_settings_t *settings, const keel_plugin_t *plugin,
                                 bool records, keel_engine_t **out) {
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof(keel_engine_t), &memory);
    if (status) {
        keel_settings_deinitialize(settings);
        return status;
    }
    keel_engine_t *engine = memory;
    engine->settings = *settings;
    *settings = (keel_settings_t){0};
    engine->plugin = plugin;
    engine->api = plugin->api;
    engine->pid = getpid();
    status = create(engine, records);
    if (status) {
        destroy_engine(engine);
        return status;
    }
    fork_guard(engine);
    *out = engine;
    return NULL;
}

const keel_settings_t *keel_engine_settings(const keel_engine_t *engine) {
    return &engine->settings;
}

keel_status_t keel_engine_run_folder(const keel_engine_t *engine, char **out) {
    if (!engine->journal) return keel_strdup(KEEL_STR(""), out);
    return keel_path(out, "%s/%s", keel_settings_text(&engine->settings, KEEL_SETTING_RUN_DIR),
                     keel_journal_id(engine->journal));
}

bool keel_engine_replaces_cache(const keel_engine_t *engine) {
    return *engine->cache_dir && engine->stores && !engine->settings.keeps_client_cache;
}

void keel_engine_set_gate(keel_engine_t *engine, const keel_engine_gate_t *gate) {
    engine->gate = *gate;
}

void keel_engine_end(keel_engine_t *engine) {
    if (getpid() != engine->pid || atomic_exchange(&engine->ended, true)) return;
    rehearsal_end(engine);
    bool is_idle = prefetch_stop(engine, NULL);
    is_idle = background_drain(engine, NULL) && is_idle;
    prefetch_keep_plan(engine, true);
    is_idle = release_drain(engine, 5) && is_idle;
    if (is_idle) memory_forget(engine, NULL);
    // Their steps are known once all executions before them are written.
    if (repeats_are_pending(engine)) journal_executes(engine);
    keel_journal_counts_t counts;
    keel_status_ignore(counters_collect(engine->counters, &counts));
    // A process that made no client records nothing and leaves no run.
    flow_end(engine);
    if (clients_had_any(engine->clients)) {
        steps_journal(engine);
        flow_journal(engine);
        makers_journal(engine, true);
        order_journal(engine);
        rehearsal_journal(engine);
        keel_journal_end(engine->journal, counters_total(engine->counters), counts);
    }
    keel_free((void *)(uintptr_t)counts.data);
}

// ---- clients -----------------------------------------------------------------------------------

// `backend` and `client` are NULL if there is none.
static void journal_start(keel_engine_t *engine, const keel_backend_t *backend,
                          const client_t *client) {
    keel_journal_start_t event = {.mode = keel_mode_name(engine->settings.mode),
                                  .cache_dir = engine->cache_dir,
                                  .script = engine->script,
                                  .target =
                                      rehearsal_target(engine, client ? client->client : NULL),
                                  .client = client ? client->number : 0,
                                  .client_seconds = keel_preparing_take(KEEL_PREPARING_CLIENT),
                                  .key = client ? &client->backend : NULL};
    event.plugin.path = engine->plugin->path;
    event.plugin.name = strrchr(engine->plugin->path, '/') + 1;
    if (backend) event.plugin.platform = backend->platform_name;
    if (backend) event.plugin.version = backend->platform_version;
    event.plugin.build = &engine->plugin_build;
    event.plugin.api_major = engine->api->pjrt_api_version.major_version;
    event.plugin.api_minor = engine->api->pjrt_api_version.minor_version;
    keel_journal_start(engine->journal, &event);
}

void engine_begin_without_client(keel_engine_t *engine) {
    journal_start(engine, NULL, NULL);
}

static keel_status_t add_client(keel_engine_t *engine, PJRT_Client *client,
                                const keel_backend_t *backend, const client_t **out) {
    KEEL_TRY(clients_add(engine, client, backend, out));
    journal_start(engine, backend, *out);
    return NULL;
}

keel_status_t engine_add_client(keel_engine_t *engine, PJRT_Client *client,
                                const keel_backend_t *backend) {
    const client_t *added;
    return add_client(engine, client, backend, &added);
}

void keel_engine_client_created(keel_engine_t *engine, PJRT_Client *client,
                                const PJRT_NamedValue *options, size_t option_count) {
    if (getpid() != engine->pid) return;
    keel_python_leave_threads();
    keel_backend_t backend;
    keel_status_t status = keel_backend_read(engine->api, client, options, option_count, &backend);
    if (!status) {
        const client_t *added;
        status = add_client(engine, client, &backend, &added);
        if (!status && !engine->target) prefetch_begin(engine, added);
        if (!status) memory_watch(engine, client, backend.platform_name);
        keel_backend_deinitialize(&backend);
    }
    if (status)
        engine_fell_through(engine, "backend", NULL, status);
    else
        bundling_begin(engine, client);
}

void keel_engine_note_bytecode(keel_engine_t *engine, uint64_t modules, uint64_t size,
                               const char *why) {
    if (getpid() == engine->pid) keel_journal_bytecode(engine->journal, modules, size, why);
}

uint64_t keel_engine_note_traced(keel_engine_t *engine, const keel_traced_t *traced) {
    bool is_wanted = getpid() == engine->pid && engine->journal && engine->settings.stack;
    const char *application = keel_settings_text(&engine->settings, KEEL_SETTING_APPLICATION);
    return is_wanted ? keel_traced_note(traced, application) : 0;
}

void keel_engine_note_fix(keel_engine_t *engine, const keel_journal_fix_t *fix) {
    if (getpid() == engine->pid) keel_journal_fix(engine->journal, fix);
}

bool keel_engine_client_closing(keel_engine_t *engine, PJRT_Client *client) {
    if (getpid() != engine->pid) return true;
    bool is_idle = prefetch_stop(engine, client);
    is_idle = background_drain(engine, client) && is_idle;
    is_idle = release_drain(engine, 60) && is_idle;
    if (!is_idle) return false;
    memory_forget(engine, client);
    clients_remove(engine->clients, client);
    return true;
}
