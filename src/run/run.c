// The pass over a run's events.
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/source.h"
#include "journal/prune.h"
#include "run/steps.h"

typedef struct reading_t {
    keel_run_t *run;
    keel_steps_t *steps;
    keel_reads_reading_t reads;
    keel_steps_request_t *request; // of the event, if it is a compile or load
    size_t request_capacity, entry_capacity;
    double last;                  // time of the last event
    double first_told, last_told; // likewise, ignoring impossible times
    keel_memory_reading_t memory;
    keel_retraces_t retraces;
    int64_t *first_pids;         // which process asked first for each program
    keel_run_program_t left_out; // one that is not kept
} reading_t;

static bool is_event(const json_t *event, const char *kind) {
    return strcmp(keel_event_text(event, "event"), kind) == 0;
}

static keel_status_t keep_text(reading_t *reading, const char *text, const char **out) {
    return keel_texts_keep(&reading->run->texts, text, out);
}

static keel_status_t site_of(reading_t *reading, const json_t *event, keel_run_place_t *out) {
    return keel_event_site(&reading->run->texts, json_object_get(event, "site"), reading->run->cwd,
                           out);
}

// The program that a compile or load is about, with what its first event says about it.
static keel_status_t program_of(reading_t *reading, const json_t *event, keel_run_program_t **out) {
    static const keel_run_program_t none = {.tier = ""};
    size_t index = reading->request->program;
    reading->left_out = none;
    *out = &reading->left_out;
    if (index == SIZE_MAX) return NULL; // only the run's figures have it
    KEEL_ASSERT(index < reading->run->program_count);
    keel_run_program_t *program = *out = &reading->run->programs[index];
    if (program->identity) return NULL;
    const keel_steps_program_t *known = &reading->steps->programs[program - reading->run->programs];
    program->ops = known->ops;
    program->bytes = keel_event_count(event, "bytes");
    program->executes = known->executes;
    KEEL_TRY(keep_text(reading, keel_event_text(event, "program"), &program->program));
    program->tier = "";
    KEEL_TRY(keep_text(reading, known->name, &program->name));
    KEEL_TRY(site_of(reading, event, &program->site));
    return keep_text(reading, known->identity, &program->identity);
}

// ---- figures -----------------------------------------------------------------------------------

static keel_status_t count_compile(reading_t *reading, const json_t *event) {
    keel_run_t *run = reading->run;
    keel_run_program_t *program;
    KEEL_TRY(program_of(reading, event, &program));
    keel_took_add(&run->compiles, &reading->request->took);
    keel_took_add(&program->compiles, &reading->request->took);
    double partition = keel_event_number(event, "partition_seconds");
    if (partition > 0)
        keel_took_add(&run->partitioned, &(keel_took_t){.times = 1, .seconds = partition});
    run->overhead_seconds += keel_event_number(event, "overhead_seconds");
    program->uncacheable |= json_is_false(json_object_get(event, "cacheable"));
    return NULL;
}

static keel_status_t count_load(reading_t *reading, const json_t *event) {
    keel_run_t *run = reading->run;
    keel_run_program_t *program;
    KEEL_TRY(program_of(reading, event, &program));
    uint64_t times = keel_event_times(event);
    const keel_took_t unknown = {.times = times, .unknown = times}, *took = &reading->request->took;
    if (reading->request->is_rehearsed) took = &unknown; // nothing moves to a device
    keel_took_add(&run->loads, took);
    keel_took_add(&program->loads, took);
    run->memory_hits += strcmp(keel_event_text(event, "tier"), "memory") == 0 ? times : 0;
    const char *tier;
    KEEL_TRY(keel_remote_uses_load(&run->remotes, keel_event_text(event, "tier"), times,
                                   &run->texts, &tier));
    run->remote_hits += keel_remote_uses_has(&run->remotes, tier) ? times : 0;
    if (!*program->tier) program->tier = tier;
    run->ahead_loads += keel_event_number(event, "ahead_seconds") > 0;
    run->overhead_seconds += keel_event_number(event, "overhead_seconds");
    run->load_overhead_seconds += keel_event_number(event, "overhead_seconds");
    run->spared_seconds += keel_event_number(event, "compile_seconds");
    return NULL;
}

keel_took_t keel_run_waited(const keel_run_t *run) {
    keel_took_t waited = run->loads;
    waited.seconds += run->load_overhead_seconds;
    return waited;
}

static keel_status_t count_prefetch(reading_t *reading, const json_t *event) {
    uint64_t loaded = keel_event_count(event, "loaded"), used = keel_event_count(event, "used");
    if (loaded > used) reading->run->unused_loads += loaded - used;
    reading->run->ahead_seconds += keel_event_number(event, "seconds");
    return NULL;
}

static keel_status_t keep_arguments(reading_t *reading, const json_t *arguments) {
    keel_run_t *run = reading->run;
    KEEL_TRY(keel_event_joined(&run->texts, arguments, &run->command));
    keel_buffer_t list;
    keel_buffer_initialize(&list, 1 << 20);
    keel_json_t json = keel_json(&list, KEEL_JSON_SPACED);
    keel_json_array(&json, NULL);
    size_t index;
    json_t *argument;
    json_array_foreach(arguments, index, argument) {
        const char *text = json_string_value(argument);
        keel_json_string(&json, NULL, text ? text : "?");
    }
    keel_json_end_array(&json);
    keel_status_t status = keel_buffer_status(&list);
    if (!status) status = keep_text(reading, keel_buffer_cstr(&list), &run->argv);
    keel_buffer_deinitialize(&list);
    return status;
}

static bool is_set(const json_t *flags, const char *name) {
    const char *value = keel_event_text(flags, name);
    return *value && strcmp(value, "0") != 0;
}

static keel_status_t count_start(reading_t *reading, const json_t *event) {
    keel_run_t *run = reading->run;
    const json_t *flags = json_object_get(event, "flags");
    run->has_lines |= *keel_event_text(flags, "XLA_HLO_DEBUG");
    run->is_narrowed |= is_set(flags, "XLA_USE_BF16") || is_set(flags, "XLA_DOWNCAST_BF16");
    run->has_client = true;
    // The run's first process describes the run.
    if (*run->command || *run->mode || *run->cwd) return NULL;
    const json_t *plugin = json_object_get(event, "plugin");
    KEEL_TRY(keep_arguments(reading, json_object_get(event, "argv")));
    KEEL_TRY(keep_text(reading, keel_event_text(event, "cwd"), &run->cwd));
    KEEL_TRY(keep_text(reading, keel_event_text(event, "host"), &run->host));
    KEEL_TRY(keep_text(reading, keel_event_text(event, "mode"), &run->mode));
    KEEL_TRY(keep_text(reading, keel_event_text(plugin, "path"), &run->plugin_path));
    KEEL_TRY(keep_text(reading, keel_event_text(plugin, "platform"), &run->plugin_platform));
    char api[48];
    snprintf(api, sizeof api, "%llu.%llu",
             (unsigned long long)keel_event_count(plugin, "api_major"),
             (unsigned long long)keel_event_count(plugin, "api_minor"));
    return keep_text(reading, api, &run->plugin_api);
}

static keel_status_t count_store_error(reading_t *reading, const json_t *event) {
    if (reading->run->store_errors++) return NULL;
    return keep_text(reading, keel_event_text(event, "message"), &reading->run->first_store_error);
}

static keel_status_t count_fallback(reading_t *reading, const json_t *event) {
    if (reading->run->fallbacks++) return NULL;
    return keep_text(reading, keel_event_text(event, "message"), &reading->run->first_fallback);
}

static keel_status_t count_miss(reading_t *reading, const json_t *event) {
    (void)event;
    ++reading->run->misses;
    return NULL;
}

static keel_status_t count_uncacheable(reading_t *reading, const json_t *event) {
    (void)event;
    ++reading->run->uncacheable;
    return NULL;
}

static keel_status_t count_publish(reading_t *reading, const json_t *event) {
    (void)event;
    ++reading->run->publishes;
    return NULL;
}

static keel_status_t count_fix(reading_t *reading, const json_t *event) {
    return keel_fixes_add(&reading->run->fixes, event, &reading->run->texts);
}

static keel_status_t count_remote(reading_t *reading, const json_t *event) {
    return keel_remote_uses_add(&reading->run->remotes, event, &reading->run->texts);
}

static keel_status_t note_source(reading_t *reading, const json_t *event) {
    return keel_source_note(&reading->run->sources, keel_event_text(event, "file"),
                            keel_event_text(event, "digest"));
}

static void note_time(reading_t *reading, const json_t *event) {
    keel_run_t *run = reading->run;
    double time = keel_event_number(event, "t");
    static const double latest = 9e9; // nanoseconds since 1970 hold no more
    if (time > reading->last) reading->last = time;
    if (time <= 0 || time >= latest) return;
    if (run->started == 0 || time < run->started) run->started = time;
    if (time > reading->last_told) reading->last_told = time;
}

// ---- compiles and loads ------------------------------------------------------------------------

// PyTorch/XLA's lines are Python's.
static bool is_of_c(const json_t *event) {
    static const char *const ends[] = {".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"};
    keel_str_t file = keel_str(keel_event_text(json_object_get(event, "site"), "file"));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i)
        if (keel_str_ends(file, keel_str(ends[i]))) return true;
    return false;
}

static void guess_framework(keel_run_t *run, const json_t *event) {
    const char *name = keel_event_text(event, "name");
    if (strncmp(name, "jit_", 4) == 0 || strncmp(name, "pmap_", 5) == 0)
        run->framework = "jax";
    else if (!*run->framework && keel_torch_tpu_is_name(keel_str(name))) {
        run->framework = "torch";
        run->is_torch_tpu = true;
    } else if (!*run->framework && is_of_c(event))
        run->framework = "c";
    else if (!*run->framework && strcmp(keel_event_text(event, "format"), "hlo") == 0)
        run->framework = "torch";
}

// The first request of a program describes the program.
static keel_status_t describe_request(reading_t *reading, const json_t *event,
                                      keel_run_request_t *request) {
    const keel_run_program_t *program = &reading->run->programs[request->index];
    if (program->compiles.times + program->loads.times == 1) {
        request->name = program->name;
        request->program = program->program;
        request->site = program->site;
        return NULL;
    }
    KEEL_TRY(keep_text(reading, keel_event_text(event, "name"), &request->name));
    KEEL_TRY(keep_text(reading, keel_event_text(event, "program"), &request->program));
    return site_of(reading, event, &request->site);
}

static bool is_compile(const json_t *event, const keel_steps_request_t *known) {
    if (strcmp(keel_event_text(event, "event"), "compile") == 0) return true;
    return known->is_rehearsed && strcmp(keel_event_text(event, "tier"), "memory") != 0;
}

static bool is_repeat(const reading_t *reading, size_t program, int64_t pid) {
    int64_t *first = &reading->first_pids[program];
    if (!*first) *first = pid;
    return *first != pid && reading->run->rehearsal.target.processes > 1;
}

static keel_status_t read_request(reading_t *reading, const json_t *event,
                                  const keel_steps_process_t *process,
                                  const keel_steps_request_t *known, keel_run_request_t *request) {
    *request = (keel_run_request_t){
        .step = known->step,
        .t = keel_event_number(event, "t"),
        .took = known->took,
        .fate = known->fate,
        .ops = reading->steps->programs[known->program].ops,
        .pid = process->pid,
        .index = known->program,
        .is_load = strcmp(keel_event_text(event, "event"), "load") == 0,
        .from_memory = strcmp(keel_event_text(event, "tier"), "memory") == 0,
        .is_compile = is_compile(event, known),
        .recompile = json_is_true(json_object_get(event, "recompile")),
        .operation = known->operation,
        .entry = SIZE_MAX,
    };
    return describe_request(reading, event, request);
}

// One that is not kept.
static keel_status_t sum_request(reading_t *reading, const json_t *event,
                                 const keel_steps_process_t *process,
                                 const keel_steps_request_t *known) {
    keel_run_t *run = reading->run;
    keel_run_request_t request;
    ++run->summed;
    run->recompiles +=
        is_compile(event, known) && json_is_true(json_object_get(event, "recompile"));
    if (is_event(event, "compile")) ++run->fates[known->fate];
    if (!known->is_counted || known->program == SIZE_MAX) return NULL;
    KEEL_TRY(read_request(reading, event, process, known, &request));
    if (!known->is_rehearsed) request.took.seconds += known->overhead_seconds;
    return keel_retraces_sum(&reading->retraces, run, &request);
}

static keel_status_t add_request(reading_t *reading, const json_t *event,
                                 const keel_steps_process_t *process,
                                 const keel_steps_request_t *known) {
    keel_run_t *run = reading->run;
    void *grown = run->requests;
    KEEL_TRY(keel_grow_array(run->request_count, sizeof *run->requests, &reading->request_capacity,
                             &grown));
    run->requests = grown;
    keel_run_request_t *request = &run->requests[run->request_count];
    KEEL_TRY(read_request(reading, event, process, known, request));
    request->is_repeat = is_repeat(reading, request->index, request->pid);
    if (request->is_repeat) request->is_compile = request->recompile = false;
    ++run->request_count;
    run->recompiles += request->is_compile && request->recompile;
    if (!request->is_load) ++run->fates[request->fate];
    guess_framework(run, event);
    return NULL;
}

// The journal cannot know that two lines called one function of a library.
static void settle_recompile(keel_run_t *run, keel_run_request_t *request) {
    KEEL_ASSERT(request->entry <= run->entry_count); // or the one that is being added
    const keel_run_entry_t *entry = &run->entries[request->entry];
    if (!request->is_compile || request->recompile || !entry->recompile) return;
    request->recompile = true;
    ++run->recompiles;
}

static keel_status_t add_entry(reading_t *reading, const json_t *event,
                               const keel_steps_process_t *process) {
    keel_run_t *run = reading->run;
    keel_steps_request_t *known;
    uint64_t step;
    KEEL_TRY(keel_steps_refused(reading->steps, event, &step));
    if (!step) step = process->steps + 1;
    KEEL_TRY(keel_steps_explained(reading->steps, event, &known));
    KEEL_ASSERT(!known || (size_t)(known - reading->steps->requests) < run->request_count);
    if (known && run->requests[known - reading->steps->requests].is_repeat) return NULL;
    if (run->entry_count >= keel_limit(KEEL_LIMIT_REQUESTS)) return NULL;
    void *grown = run->entries;
    KEEL_TRY(
        keel_grow_array(run->entry_count, sizeof *run->entries, &reading->entry_capacity, &grown));
    run->entries = grown;
    keel_run_entry_t *entry = &run->entries[run->entry_count];
    *entry = (keel_run_entry_t){.step = known ? known->step : step,
                                .took = {.times = 1, .unknown = process->is_rehearsal},
                                .tier = "",
                                .operation = SIZE_MAX};
    if (!process->is_rehearsal) entry->took.seconds = keel_event_number(event, "seconds");
    if (known) {
        entry->operation = known->operation;
        if (process->is_rehearsal) entry->took = known->took;
        entry->ops = run->requests[known - reading->steps->requests].ops;
        run->requests[known - reading->steps->requests].entry = run->entry_count;
    }
    entry->is_eager = entry->operation != SIZE_MAX;
    KEEL_TRY(keel_run_read_entry(event, run->cwd, &run->texts, entry));
    entry->last_step = entry->step;
    if (known && keel_run_is_retrace(entry) && !process->is_rehearsal)
        entry->took.seconds += known->overhead_seconds;
    entry->is_compile = keel_event_compiled(event);
    if (known && known->program != SIZE_MAX && strcmp(entry->what, "compile") != 0)
        entry->tier = run->programs[known->program].tier;
    entry->is_refused = strcmp(entry->what, "refused") == 0;
    if (entry->is_refused) entry->took.unknown = true;
    if (entry->is_refused) guess_framework(run, event); // perhaps nothing was compiled
    if (known) entry->is_compile = run->requests[known - reading->steps->requests].is_compile;
    if (known) settle_recompile(run, &run->requests[known - reading->steps->requests]);
    ++run->entry_count;
    return NULL;
}

// ---- all events --------------------------------------------------------------------------------

static keel_status_t count_event(reading_t *reading, const json_t *event) {
    static const struct {
        const char *name;
        keel_status_t (*count)(reading_t *reading, const json_t *event);
    } kinds[] = {
        {"start", count_start},       {"compile", count_compile},
        {"load", count_load},         {"prefetch", count_prefetch},
        {"miss", count_miss},         {"uncacheable", count_uncacheable},
        {"publish", count_publish},   {"store_error", count_store_error},
        {"fallback", count_fallback}, {"fix", count_fix},
        {"source", note_source},      {"remote", count_remote},
    };
    keel_run_t *run = reading->run;
    const char *kind = keel_event_text(event, "event");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (strcmp(kind, kinds[i].name) != 0) continue;
        KEEL_TRY(kinds[i].count(reading, event));
        break;
    }
    run->executes += keel_event_executions(event);
    return keel_asides_add(&run->asides, event, run->cwd, &run->texts);
}

static keel_status_t meet_event(void *context, const json_t *event) {
    reading_t *reading = context;
    keel_run_t *run = reading->run;
    keel_steps_process_t *process;
    if (is_event(event, "written"))
        return keel_rehearsal_add_written(&run->rehearsal, event, &run->texts);
    note_time(reading, event);
    KEEL_TRY(keel_steps_advance(reading->steps, event, &process, &reading->request));
    KEEL_TRY(count_event(reading, event));
    if (process->is_rehearsal)
        KEEL_TRY(keel_rehearsal_add(&run->rehearsal, reading->steps, event, run->cwd, &run->texts));
    KEEL_TRY(keel_reads_add(&reading->reads, event, run->cwd));
    KEEL_TRY(keel_makers_add(&run->makers, event, &run->texts));
    if (run->parts & KEEL_RUN_MEMORY)
        KEEL_TRY(keel_memory_add(&reading->memory, event, run->cwd, &run->texts));
    if (run->parts & KEEL_RUN_METRICS) KEEL_TRY(keel_metrics_event(&run->metrics, event));
    if (reading->request && reading->request->is_summed)
        KEEL_TRY(sum_request(reading, event, process, reading->request));
    else if (reading->request)
        KEEL_TRY(add_request(reading, event, process, reading->request));
    if (!is_event(event, "explain")) return NULL;
    return add_entry(reading, event, process);
}

// ---- all together ------------------------------------------------------------------------------

static void sum_up_processes(reading_t *reading) {
    keel_run_t *run = reading->run;
    run->processes = reading->steps->process_count;
    run->wall_seconds = reading->last - run->started;
    run->duration = reading->last_told - run->started;
    for (size_t i = 0; i < reading->steps->process_count; ++i) {
        const keel_steps_process_t *process = &reading->steps->processes[i];
        if (!process->ended) ++run->unfinished;
        if (process->steps > run->steps) run->steps = process->steps;
        if (process->settled > run->settled_at_step) run->settled_at_step = process->settled;
        // A process is older than its first event.
        if (process->wall > run->wall_seconds) run->wall_seconds = process->wall;
    }
    if (run->steps && !run->settled_at_step) run->settled_at_step = 1;
    if (!run->steps) run->settled_at_step = 0;
    for (size_t i = 0; i < reading->steps->program_count; ++i)
        run->known_executes += reading->steps->programs[i].executes;
}

// What came after the last step delayed none. For a process that has not ended this is unknown.
static void find_ends(reading_t *reading) {
    keel_run_t *run = reading->run;
    const keel_steps_t *steps = reading->steps;
    for (size_t i = 0; i < run->entry_count; ++i) {
        keel_run_entry_t *entry = &run->entries[i];
        uint64_t last = 0;
        for (size_t j = 0; j < steps->process_count; ++j)
            if (steps->processes[j].pid == entry->pid && steps->processes[j].ended)
                last = steps->processes[j].steps;
        entry->at_end = last && entry->last_step > last;
    }
}

static int by_cost(const void *a, const void *b) {
    const keel_run_program_t *x = a, *y = b;
    keel_took_t left = x->compiles, right = y->compiles;
    keel_took_add(&left, &x->loads);
    keel_took_add(&right, &y->loads);
    int order = keel_took_order(&left, x->ops, &right, y->ops);
    return order ? order : strcmp(x->identity, y->identity);
}

// Reports show a few hundred bytes of a string, and print a command whole.
enum { LONGEST_STRING = 1 << 14 };

// The run's events but for the parts that were not asked for.
static keel_status_t scan(const keel_run_t *run,
                          keel_status_t (*visit)(void *context, const struct json_t *event),
                          void *context, keel_journal_damage_t *out_damage) {
    static const char *const events[] = {"ask", "memory", NULL}, *const asks[] = {"ask", NULL};
    const char *lists[5] = {NULL};
    size_t count = 0;
    if (!(run->parts & KEEL_RUN_DETAILS)) lists[count++] = "folded";
    if (!(run->parts & KEEL_RUN_KEYS)) lists[count++] = "components", lists[count++] = "values";
    const keel_journal_needless_t needless = {run->parts & KEEL_RUN_MEMORY ? asks : events, lists,
                                              LONGEST_STRING};
    return keel_journal_scan(&run->source, &needless, visit, context, out_damage);
}

static keel_status_t meet_events(reading_t *reading) {
    keel_run_t *run = reading->run;
    size_t count = reading->steps->program_count;
    void *programs;
    KEEL_TRY(keel_calloc(count, sizeof *run->programs, &programs));
    run->programs = programs;
    run->program_count = count;
    KEEL_TRY(keel_calloc(count + 1, sizeof *reading->first_pids, &programs));
    reading->first_pids = programs;
    KEEL_TRY(scan(run, meet_event, reading, &run->damage));
    KEEL_TRY(keel_reads_settle(&reading->reads));
    KEEL_TRY(keel_memory_settle(&reading->memory));
    keel_asides_settle(&run->asides);
    KEEL_TRY(keel_retraces_add(&reading->retraces, reading->steps, run));
    find_ends(reading);
    sum_up_processes(reading);
    if (!run->unfinished) KEEL_TRY(keel_drift_find(&run->rehearsal));
    if (count) qsort(run->programs, count, sizeof *run->programs, by_cost);
    return NULL;
}

// Takes the source.
static keel_status_t read_source(keel_journal_source_t source, const char *id, const char *path,
                                 unsigned parts, keel_run_t *run) {
    void *steps;
    reading_t reading = {.run = run};
    run->source = source;
    run->parts = parts;
    KEEL_TRY(keel_strdup(keel_str(path), &run->path));
    KEEL_TRY(keep_text(&reading, id, &run->id));
    KEEL_TRY(keel_calloc(1, sizeof *run->steps_, &steps));
    reading.steps = run->steps_ = steps;
    KEEL_TRY(keel_status_annotate(keel_steps_read(&run->source, run->steps_), "%s", path));
    // Whether it fits is a part of what a rehearsal is for.
    if (run->steps_->is_rehearsal) run->parts |= KEEL_RUN_MEMORY;
    keel_memory_begin(&reading.memory, run->steps_->is_rehearsal, &run->memory);
    keel_reads_begin(&reading.reads, run->steps_, &run->texts, &run->reads);
    keel_retraces_begin(&reading.retraces);
    keel_status_t status = keel_status_annotate(meet_events(&reading), "%s", path);
    keel_retraces_end(&reading.retraces);
    keel_reads_end(&reading.reads);
    keel_memory_end(&reading.memory);
    keel_free(reading.first_pids);
    return status;
}

void keel_run_initialize(keel_run_t *out) {
    *out = (keel_run_t){.id = "",
                        .command = "",
                        .argv = "[]",
                        .cwd = "",
                        .host = "",
                        .mode = "",
                        .plugin_path = "",
                        .plugin_platform = "",
                        .plugin_api = "",
                        .framework = "",
                        .first_store_error = "",
                        .first_fallback = ""};
    keel_texts_initialize(&out->texts);
    keel_map_initialize(&out->sources);
    keel_metrics_initialize(&out->metrics);
    keel_rehearsal_initialize(&out->rehearsal);
    keel_remote_uses_initialize(&out->remotes);
}

static keel_status_t read_run(keel_journal_source_t source, const char *id, const char *path,
                              unsigned parts, keel_run_t *out) {
    keel_run_initialize(out);
    keel_status_t status = read_source(source, id, path, parts, out);
    if (status) keel_run_deinitialize(out);
    return status;
}

keel_status_t keel_run_parse(keel_bytes_t bytes, const char *id, const char *path, unsigned parts,
                             keel_run_t *out) {
    return read_run((keel_journal_source_t){.bytes = bytes}, id, path, parts, out);
}

keel_status_t keel_run_read(const char *run_dir, const char *id, unsigned parts, keel_run_t *out) {
    keel_journal_source_t source;
    *out = (keel_run_t){0};
    KEEL_TRY(keel_journal_source_open(run_dir, id, &source));
    KEEL_TRY(read_run(source, id, source.path, parts, out));
    out->journal_bytes = keel_journal_run_bytes(run_dir, id);
    return NULL;
}

void keel_run_deinitialize(keel_run_t *run) {
    if (run->steps_) keel_steps_deinitialize(run->steps_);
    keel_free(run->steps_);
    keel_texts_deinitialize(&run->texts);
    keel_map_deinitialize(&run->sources);
    keel_metrics_deinitialize(&run->metrics);
    keel_makers_deinitialize(&run->makers);
    keel_asides_deinitialize(&run->asides);
    keel_fixes_deinitialize(&run->fixes);
    keel_memory_deinitialize(&run->memory);
    keel_reads_deinitialize(&run->reads);
    keel_rehearsal_deinitialize(&run->rehearsal);
    keel_remote_uses_deinitialize(&run->remotes);
    keel_free(run->programs);
    keel_free(run->requests);
    keel_free(run->entries);
    keel_free(run->path);
    keel_journal_source_close(&run->source);
    *run = (keel_run_t){0};
}

keel_status_t keel_run_visit(const keel_run_t *run,
                             keel_status_t (*visit)(void *context, const struct json_t *event),
                             void *context) {
    keel_journal_damage_t damage;
    return scan(run, visit, context, &damage);
}

bool keel_run_is_restless(const keel_run_t *run) {
    return run->steps > 1 && run->settled_at_step == run->steps && run->compiles.times;
}

bool keel_run_is_endless(const keel_run_t *run, size_t operation) {
    return keel_steps_is_endless(run->steps_, operation);
}

bool keel_run_ran_after(const keel_run_t *run, const char *digest, const char *other, int64_t pid) {
    return keel_steps_runs_behind(run->steps_, digest, other, pid);
}

bool keel_run_is_seen(const keel_run_t *run, const char *digest, int64_t pid) {
    return keel_steps_is_seen(run->steps_, digest, pid);
}

bool keel_run_goes_on(const keel_run_t *run, const char *digest, int64_t pid) {
    return keel_steps_goes_on(run->steps_, digest, pid);
}

keel_run_uses_t keel_run_uses(const keel_run_t *run, const char *digest, int64_t pid) {
    return keel_steps_uses(run->steps_, digest, pid);
}
