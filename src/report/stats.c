#include <stdio.h>
#include <stdlib.h>

#include "explain/cause.h"
#include "journal/prune.h"
#include "report/report.h"
#include "report/stats_internal.h"
#include "report/steps.h"

typedef struct counting_t {
    keel_stats_t *stats;
    keel_steps_t steps;
    double last; // time of the last event
} counting_t;

static keel_status_t keep(counting_t *counting, const char *text, const char **out) {
    return keel_event_keep(&counting->stats->texts, text, out);
}

static keel_status_t site_of(counting_t *counting, const json_t *event, keel_stats_site_t *out) {
    const json_t *site = json_object_get(event, "site");
    keel_arena_t *texts = &counting->stats->texts;
    const char *folder = counting->stats->cwd;
    out->line = keel_event_line(site, "line");
    KEEL_TRY(keep(counting, keel_event_text(site, "file"), &out->file));
    KEEL_TRY(keep(counting, keel_event_text(site, "function"), &out->function));
    KEEL_TRY(keel_event_place(texts, out->file, out->line, folder, &out->shown));
    return keel_event_place(texts, keel_event_text(site, "call_file"),
                            keel_event_line(site, "call_line"), folder, &out->call_shown);
}

// The program that a compile or load is about, with what its first event says of it.
static keel_status_t program_of(counting_t *counting, const json_t *event,
                                keel_stats_program_t **out) {
    keel_stats_program_t *program =
        &counting->stats->programs[keel_steps_program(&counting->steps, event)];
    *out = program;
    if (program->identity) return NULL;
    const keel_steps_program_t *known =
        &counting->steps.programs[program - counting->stats->programs];
    program->ops = known->ops;
    program->bytes = keel_event_count(event, "bytes");
    program->executes = known->executes;
    KEEL_TRY(keep(counting, keel_event_text(event, "program"), &program->program));
    KEEL_TRY(keep(counting, known->name, &program->name));
    KEEL_TRY(site_of(counting, event, &program->site));
    return keep(counting, known->identity, &program->identity);
}

// ---- figures -----------------------------------------------------------------------------------

static keel_status_t count_compile(counting_t *counting, json_t *event) {
    keel_stats_t *stats = counting->stats;
    keel_stats_program_t *program;
    KEEL_TRY(program_of(counting, event, &program));
    double seconds = keel_event_number(event, "seconds");
    ++stats->compiles;
    stats->compile_seconds += seconds;
    stats->overhead_seconds += keel_event_number(event, "overhead_seconds");
    ++program->compiles;
    program->compile_seconds += seconds;
    program->uncacheable |= json_is_false(json_object_get(event, "cacheable"));
    return NULL;
}

static keel_status_t count_load(counting_t *counting, json_t *event) {
    keel_stats_t *stats = counting->stats;
    keel_stats_program_t *program;
    KEEL_TRY(program_of(counting, event, &program));
    double seconds = keel_event_number(event, "seconds");
    ++stats->loads;
    stats->memory_hits += strcmp(keel_event_text(event, "tier"), "memory") == 0;
    stats->load_seconds += seconds;
    stats->ahead_loads += keel_event_number(event, "ahead_seconds") > 0;
    stats->overhead_seconds += keel_event_number(event, "overhead_seconds");
    stats->spared_seconds += keel_event_number(event, "compile_seconds");
    ++program->loads;
    program->load_seconds += seconds;
    return NULL;
}

static keel_status_t count_prefetch(counting_t *counting, json_t *event) {
    uint64_t loaded = keel_event_count(event, "loaded"), used = keel_event_count(event, "used");
    if (loaded > used) counting->stats->unused_loads += loaded - used;
    counting->stats->ahead_seconds += keel_event_number(event, "seconds");
    return NULL;
}

static keel_status_t keep_arguments(counting_t *counting, const json_t *arguments) {
    keel_stats_t *stats = counting->stats;
    KEEL_TRY(keel_event_joined(&stats->texts, arguments, &stats->command));
    keel_buffer_t list;
    keel_buffer_initialize(&list, 1 << 20);
    keel_buffer_byte(&list, '[');
    size_t index;
    json_t *argument;
    json_array_foreach(arguments, index, argument) {
        const char *text = json_string_value(argument);
        keel_buffer_text(&list, index ? ", " : "");
        keel_buffer_json_str(&list, keel_str(text ? text : "?"));
    }
    keel_buffer_byte(&list, ']');
    keel_status_t status = keel_buffer_status(&list);
    if (!status) status = keep(counting, keel_buffer_cstr(&list), &stats->argv);
    keel_buffer_deinitialize(&list);
    return status;
}

static keel_status_t count_start(counting_t *counting, json_t *event) {
    keel_stats_t *stats = counting->stats;
    if (*stats->command || *stats->mode) return NULL; // the run's first process speaks for it
    const json_t *plugin = json_object_get(event, "plugin");
    KEEL_TRY(keep_arguments(counting, json_object_get(event, "argv")));
    KEEL_TRY(keep(counting, keel_event_text(event, "cwd"), &stats->cwd));
    KEEL_TRY(keep(counting, keel_event_text(event, "host"), &stats->host));
    KEEL_TRY(keep(counting, keel_event_text(event, "mode"), &stats->mode));
    KEEL_TRY(keep(counting, keel_event_text(plugin, "path"), &stats->plugin_path));
    KEEL_TRY(keep(counting, keel_event_text(plugin, "platform"), &stats->plugin_platform));
    char api[48];
    snprintf(api, sizeof api, "%llu.%llu",
             (unsigned long long)keel_event_count(plugin, "api_major"),
             (unsigned long long)keel_event_count(plugin, "api_minor"));
    return keep(counting, api, &stats->plugin_api);
}

static keel_status_t count_store_error(counting_t *counting, json_t *event) {
    if (counting->stats->store_errors++) return NULL;
    return keep(counting, keel_event_text(event, "message"), &counting->stats->first_store_error);
}

static keel_status_t count_fallback(counting_t *counting, json_t *event) {
    if (counting->stats->fallbacks++) return NULL;
    return keep(counting, keel_event_text(event, "message"), &counting->stats->first_fallback);
}

static keel_status_t count_miss(counting_t *counting, json_t *event) {
    (void)event;
    ++counting->stats->misses;
    return NULL;
}

static keel_status_t count_uncacheable(counting_t *counting, json_t *event) {
    (void)event;
    ++counting->stats->uncacheable;
    return NULL;
}

static keel_status_t count_publish(counting_t *counting, json_t *event) {
    (void)event;
    ++counting->stats->publishes;
    return NULL;
}

static keel_status_t count_fix(counting_t *counting, json_t *event) {
    return keel_fixes_add(&counting->stats->fixes, event, &counting->stats->texts);
}

static void count_executes(keel_stats_t *stats, const json_t *event) {
    const char *digest;
    json_t *value;
    json_object_foreach(json_object_get(event, "executes"), digest, value) {
        json_int_t number = json_integer_value(value);
        if (number > 0) stats->executes += (uint64_t)number;
    }
}

static keel_status_t count_event(counting_t *counting, json_t *event) {
    static const struct {
        const char *name;
        keel_status_t (*count)(counting_t *counting, json_t *event);
    } kinds[] = {
        {"start", count_start},       {"compile", count_compile},
        {"load", count_load},         {"prefetch", count_prefetch},
        {"miss", count_miss},         {"uncacheable", count_uncacheable},
        {"publish", count_publish},   {"store_error", count_store_error},
        {"fallback", count_fallback}, {"fix", count_fix},
    };
    keel_stats_t *stats = counting->stats;
    double time = keel_event_number(event, "t");
    static const double latest = 9e9; // nanoseconds since 1970 hold no more
    if (time > 0 && time < latest && (stats->started == 0 || time < stats->started))
        stats->started = time;
    if (time > counting->last) counting->last = time;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(keel_event_text(event, "event"), kinds[i].name) == 0)
            KEEL_TRY(kinds[i].count(counting, event));
    count_executes(stats, event);
    return keel_asides_add(&stats->asides, event, stats->cwd, &stats->texts);
}

// ---- recompiles
// ----------------------------------------------------------------------------------

static keel_status_t add_recompile(counting_t *counting, const json_t *event, uint64_t step) {
    keel_stats_t *stats = counting->stats;
    void *grown = stats->recompiles;
    KEEL_TRY(keel_realloc_array(stats->recompile_count + 1, sizeof *stats->recompiles, &grown));
    stats->recompiles = grown;
    keel_stats_recompile_t *recompile = &stats->recompiles[stats->recompile_count];
    *recompile = (keel_stats_recompile_t){.step = step,
                                          .seconds = keel_event_number(event, "seconds"),
                                          .cause = "",
                                          .subject = "",
                                          .old_value = "",
                                          .new_value = "",
                                          .shown = ""};
    KEEL_TRY(keep(counting, keel_event_text(event, "name"), &recompile->name));
    KEEL_TRY(keep(counting, keel_event_text(event, "program"), &recompile->program));
    KEEL_TRY(site_of(counting, event, &recompile->site));
    ++stats->recompile_count;
    return NULL;
}

// What the journal gives as its cause: the first root.
static keel_status_t take_cause(counting_t *counting, const json_t *event,
                                keel_stats_recompile_t *out) {
    const json_t *root = json_array_get(json_object_get(event, "roots"), 0);
    KEEL_TRY(keep(counting, keel_event_text(root, "kind"), &out->cause));
    KEEL_TRY(keep(counting, keel_event_text(root, "subject"), &out->subject));
    KEEL_TRY(keep(counting, keel_event_text(root, "old"), &out->old_value));
    KEEL_TRY(keep(counting, keel_event_text(root, "new"), &out->new_value));
    return keel_event_place(&counting->stats->texts, keel_event_text(root, "file"),
                            keel_event_line(root, "line"), counting->stats->cwd, &out->shown);
}

static keel_status_t count_known(counting_t *counting, const json_t *event, uint64_t step) {
    keel_stats_t *stats = counting->stats;
    double seconds = keel_event_number(event, "seconds");
    bool dearest = !stats->known++ || seconds > stats->dearest_known.seconds;
    stats->known_seconds += seconds;
    if (!dearest) return NULL;
    stats->dearest_known = (keel_stats_recompile_t){.step = step, .seconds = seconds};
    KEEL_TRY(keep(counting, keel_event_text(event, "name"), &stats->dearest_known.name));
    KEEL_TRY(keep(counting, keel_event_text(event, "program"), &stats->dearest_known.program));
    KEEL_TRY(site_of(counting, event, &stats->dearest_known.site));
    return take_cause(counting, event, &stats->dearest_known);
}

static keel_status_t explain(counting_t *counting, const json_t *event) {
    keel_steps_request_t *request;
    KEEL_TRY(keel_steps_explained(&counting->steps, event, &request));
    const json_t *against = json_object_get(event, "against");
    bool compile = strcmp(keel_event_text(event, "what"), "compile") == 0;
    bool is_recompile = request && request->recompile != SIZE_MAX;
    if (is_recompile || json_is_true(json_object_get(event, "unrelated"))) return NULL;
    if (!compile || !against || json_is_true(json_object_get(against, "is_ours"))) return NULL;
    return count_known(counting, event, request ? request->step : 1);
}

static keel_status_t add_eager(counting_t *counting, const json_t *event) {
    return keel_eager_add(&counting->stats->eager, event, counting->stats->cwd,
                          &counting->stats->texts);
}

static keel_status_t step_event(counting_t *counting, const json_t *event) {
    keel_steps_process_t *process;
    keel_steps_request_t *request;
    KEEL_TRY(keel_steps_advance(&counting->steps, event, &process, &request));
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "explain") == 0) return explain(counting, event);
    if (strcmp(kind, "compile") != 0) return NULL;
    bool is_eager = request->operation != SIZE_MAX;
    if (is_eager) KEEL_TRY(add_eager(counting, event));
    if (!is_eager && !json_is_true(json_object_get(event, "recompile"))) return NULL;
    request->recompile = counting->stats->recompile_count;
    KEEL_TRY(add_recompile(counting, event, request->step));
    counting->stats->recompiles[request->recompile].is_eager = is_eager;
    return NULL;
}

// ---- all together ------------------------------------------------------------------------------

static void sum_up(counting_t *counting) {
    keel_stats_t *stats = counting->stats;
    stats->processes = counting->steps.process_count;
    stats->wall_seconds = counting->last - stats->started;
    for (size_t i = 0; i < counting->steps.process_count; ++i) {
        const keel_steps_process_t *process = &counting->steps.processes[i];
        if (!process->ended) ++stats->unfinished;
        if (process->steps > stats->steps) stats->steps = process->steps;
        if (process->settled > stats->settled_at_step) stats->settled_at_step = process->settled;
        // A process is older than its first event.
        if (process->wall > stats->wall_seconds) stats->wall_seconds = process->wall;
    }
    if (stats->steps && !stats->settled_at_step) stats->settled_at_step = 1;
    if (!stats->steps) stats->settled_at_step = 0;
}

static int by_cost(const void *a, const void *b) {
    const keel_stats_program_t *x = a, *y = b;
    double left = x->compile_seconds + x->load_seconds,
           right = y->compile_seconds + y->load_seconds;
    if (left != right) return left < right ? 1 : -1;
    return strcmp(x->identity, y->identity);
}

static keel_status_t count_all(keel_bytes_t bytes, counting_t *counting) {
    keel_stats_t *stats = counting->stats;
    size_t index, count = counting->steps.program_count;
    void *programs;
    KEEL_TRY(keel_calloc(count, sizeof *stats->programs, &programs));
    stats->programs = programs;
    stats->program_count = count;
    json_t *event;
    json_array_foreach(counting->steps.events, index, event) {
        KEEL_TRY(count_event(counting, event));
        KEEL_TRY(step_event(counting, event));
    }
    KEEL_TRY(keel_reads_read(&counting->steps, stats->cwd, &stats->texts, &stats->reads));
    KEEL_TRY(keel_stats_take_causes(bytes, stats));
    keel_eager_settle(&stats->eager);
    keel_asides_settle(&stats->asides);
    sum_up(counting);
    if (count) qsort(stats->programs, count, sizeof *stats->programs, by_cost);
    return NULL;
}

static keel_status_t parse(keel_bytes_t bytes, const char *id, const char *path,
                           keel_stats_t *stats) {
    counting_t counting = {.stats = stats};
    keel_status_t status = keel_strdup(keel_str(path), &stats->path);
    if (!status) status = keep(&counting, id, &stats->id);
    if (status) return status;
    status = keel_steps_read(bytes, false, &counting.steps, &stats->damage);
    if (!status) status = count_all(bytes, &counting);
    keel_steps_deinitialize(&counting.steps);
    return status;
}

keel_status_t keel_stats_parse(keel_bytes_t bytes, const char *id, const char *path,
                               keel_stats_t *out) {
    *out = (keel_stats_t){.id = "",
                          .command = "",
                          .argv = "[]",
                          .cwd = "",
                          .host = "",
                          .mode = "",
                          .plugin_path = "",
                          .plugin_platform = "",
                          .plugin_api = "",
                          .first_store_error = "",
                          .first_fallback = ""};
    keel_arena_initialize(&out->texts, 0);
    keel_status_t status = parse(bytes, id, path, out);
    if (status) keel_stats_deinitialize(out);
    return status;
}

keel_status_t keel_stats_read(const char *run_dir, const char *id, keel_stats_t *out) {
    keel_journal_file_t journal;
    *out = (keel_stats_t){0};
    KEEL_TRY(keel_journal_file_read(run_dir, id, &journal));
    keel_status_t status = keel_stats_parse(journal.bytes, id, journal.path, out);
    keel_journal_file_free(&journal);
    if (!status) out->journal_bytes = keel_journal_run_bytes(run_dir, id);
    return status;
}

void keel_stats_deinitialize(keel_stats_t *stats) {
    keel_arena_deinitialize(&stats->texts);
    keel_asides_deinitialize(&stats->asides);
    keel_eager_deinitialize(&stats->eager);
    keel_fixes_deinitialize(&stats->fixes);
    keel_free(stats->programs);
    keel_free(stats->recompiles);
    keel_reads_deinitialize(&stats->reads);
    keel_free(stats->path);
    *stats = (keel_stats_t){0};
}
