#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "report/report.h"

// What is known of one process while events are counted.
typedef struct process_t {
    json_int_t pid;
    bool ended;
    uint64_t steps;   // executions of the leading family so far
    uint64_t settled; // one more than `steps` when its last new program came; 0: none came
    double wall;
} process_t;

typedef struct counting_t {
    keel_stats_t *stats;
    json_t *events;
    keel_map_t by_identity; // -> index in stats->programs
    keel_map_t by_program;  // digest in hex -> index in stats->programs
    process_t *processes;
    size_t process_count;
    const char *leading; // module name
    double last;         // time of the last event
} counting_t;

// ---- reading fields that may be absent or of another kind --------------------------------------

static const char *text_of(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

static double number_of(const json_t *event, const char *name) {
    double number = json_number_value(json_object_get(event, name));
    return number > 0 && number < 1e18 ? number : 0;
}

static uint64_t count_of(const json_t *event, const char *name) {
    json_int_t number = json_integer_value(json_object_get(event, name));
    return number > 0 ? (uint64_t)number : 0;
}

static keel_status_t keep(counting_t *counting, const char *text, const char **out) {
    keel_str_t copy;
    KEEL_TRY(keel_arena_str(&counting->stats->texts, keel_str(text), &copy));
    *out = copy.data;
    return NULL;
}

// ---- programs and processes --------------------------------------------------------------------

static keel_status_t process_of(counting_t *counting, const json_t *event, process_t **out) {
    json_int_t pid = json_integer_value(json_object_get(event, "pid"));
    for (size_t i = counting->process_count; i-- > 0;)
        if (counting->processes[i].pid == pid) {
            *out = &counting->processes[i];
            return NULL;
        }
    void *grown = counting->processes;
    KEEL_TRY(keel_realloc_array(counting->process_count + 1, sizeof(process_t), &grown));
    counting->processes = grown;
    *out = &counting->processes[counting->process_count++];
    **out = (process_t){.pid = pid};
    return NULL;
}

// "/home/ada/a/train.py" in a run from /home/ada/a is "train.py".
static const char *relative(const char *file, const char *folder) {
    size_t length = strlen(folder);
    bool below = length > 1 && strncmp(file, folder, length) == 0 && file[length] == '/';
    return below ? file + length + 1 : file;
}

static keel_status_t shown(counting_t *counting, const char *file, uint64_t line,
                           const char **out) {
    *out = "";
    if (!*file) return NULL;
    const char *folder = counting->stats->cwd;
    char *text;
    KEEL_TRY(line ? keel_path(&text, "%s:%llu", relative(file, folder), (unsigned long long)line)
                  : keel_path(&text, "%s", relative(file, folder)));
    keel_status_t status = keep(counting, text, out);
    keel_free(text);
    return status;
}

static keel_status_t site_of(counting_t *counting, const json_t *event, keel_stats_site_t *out) {
    const json_t *site = json_object_get(event, "site");
    uint64_t line = count_of(site, "line");
    out->line = line > UINT32_MAX ? 0 : (uint32_t)line;
    KEEL_TRY(keep(counting, text_of(site, "file"), &out->file));
    KEEL_TRY(keep(counting, text_of(site, "function"), &out->function));
    KEEL_TRY(shown(counting, out->file, line, &out->shown));
    return shown(counting, text_of(site, "call_file"), count_of(site, "call_line"),
                 &out->call_shown);
}

static keel_status_t add_program(counting_t *counting, const char *identity, const json_t *event,
                                 size_t *out) {
    keel_stats_t *stats = counting->stats;
    void *grown = stats->programs;
    KEEL_TRY(keel_realloc_array(stats->program_count + 1, sizeof *stats->programs, &grown));
    stats->programs = grown;
    keel_stats_program_t *program = &stats->programs[stats->program_count];
    *program =
        (keel_stats_program_t){.ops = count_of(event, "ops"), .bytes = count_of(event, "bytes")};
    KEEL_TRY(keep(counting, identity, &program->identity));
    KEEL_TRY(keep(counting, text_of(event, "program"), &program->program));
    KEEL_TRY(keep(counting, text_of(event, "name"), &program->name));
    KEEL_TRY(site_of(counting, event, &program->site));
    KEEL_TRY(keel_map_put(&counting->by_identity, keel_str_bytes(keel_str(identity)),
                          stats->program_count));
    *out = stats->program_count++;
    return NULL;
}

// The program that a compile or load is about.
static keel_status_t program_of(counting_t *counting, const json_t *event, size_t *out) {
    const char *digest = text_of(event, "program"), *key = text_of(event, "key");
    const char *identity = *key ? key : digest;
    const uint64_t *known =
        keel_map_find(&counting->by_identity, keel_str_bytes(keel_str(identity)));
    if (known)
        *out = (size_t)*known;
    else
        KEEL_TRY(add_program(counting, identity, event, out));
    return keel_map_put(&counting->by_program, keel_str_bytes(keel_str(digest)), *out);
}

// ---- first pass: figures -----------------------------------------------------------------------

static keel_status_t count_executes(counting_t *counting, json_t *event) {
    const char *digest;
    json_t *value;
    json_object_foreach(json_object_get(event, "executes"), digest, value) {
        json_int_t number = json_integer_value(value);
        if (number <= 0) continue;
        counting->stats->executes += (uint64_t)number;
        const uint64_t *index =
            keel_map_find(&counting->by_program, keel_str_bytes(keel_str(digest)));
        if (index) counting->stats->programs[*index].executes += (uint64_t)number;
    }
    return NULL;
}

static keel_status_t count_compile(counting_t *counting, json_t *event) {
    keel_stats_t *stats = counting->stats;
    size_t index;
    KEEL_TRY(program_of(counting, event, &index));
    double seconds = number_of(event, "seconds");
    ++stats->compiles;
    stats->compile_seconds += seconds;
    stats->overhead_seconds += number_of(event, "overhead_seconds");
    keel_stats_program_t *program = &stats->programs[index];
    ++program->compiles;
    program->compile_seconds += seconds;
    program->uncacheable |= json_is_false(json_object_get(event, "cacheable"));
    return NULL;
}

static keel_status_t count_load(counting_t *counting, json_t *event) {
    keel_stats_t *stats = counting->stats;
    size_t index;
    KEEL_TRY(program_of(counting, event, &index));
    double seconds = number_of(event, "seconds");
    ++stats->loads;
    stats->memory_hits += strcmp(text_of(event, "tier"), "memory") == 0;
    stats->load_seconds += seconds;
    stats->overhead_seconds += number_of(event, "overhead_seconds");
    stats->spared_seconds += number_of(event, "compile_seconds");
    ++stats->programs[index].loads;
    stats->programs[index].load_seconds += seconds;
    return NULL;
}

static keel_status_t keep_arguments(counting_t *counting, const json_t *arguments) {
    keel_buffer_t line, list;
    keel_buffer_initialize(&line, 1 << 20);
    keel_buffer_initialize(&list, 1 << 20);
    keel_buffer_byte(&list, '[');
    size_t index;
    json_t *argument;
    json_array_foreach(arguments, index, argument) {
        const char *text = json_string_value(argument);
        keel_buffer_text(&line, index ? " " : "");
        keel_buffer_text(&line, text ? text : "?");
        keel_buffer_text(&list, index ? ", " : "");
        keel_buffer_json_str(&list, keel_str(text ? text : "?"));
    }
    keel_buffer_byte(&list, ']');
    keel_status_t status = keel_buffer_status(&line);
    if (!status) status = keel_buffer_status(&list);
    if (!status) status = keep(counting, keel_buffer_cstr(&line), &counting->stats->command);
    if (!status) status = keep(counting, keel_buffer_cstr(&list), &counting->stats->argv);
    keel_buffer_deinitialize(&line);
    keel_buffer_deinitialize(&list);
    return status;
}

static keel_status_t count_start(counting_t *counting, json_t *event) {
    keel_stats_t *stats = counting->stats;
    if (*stats->command || *stats->mode) return NULL; // the run's first process speaks for it
    const json_t *plugin = json_object_get(event, "plugin");
    KEEL_TRY(keep_arguments(counting, json_object_get(event, "argv")));
    KEEL_TRY(keep(counting, text_of(event, "cwd"), &stats->cwd));
    KEEL_TRY(keep(counting, text_of(event, "host"), &stats->host));
    KEEL_TRY(keep(counting, text_of(event, "mode"), &stats->mode));
    KEEL_TRY(keep(counting, text_of(plugin, "path"), &stats->plugin_path));
    KEEL_TRY(keep(counting, text_of(plugin, "platform"), &stats->plugin_platform));
    char api[48];
    snprintf(api, sizeof api, "%llu.%llu", (unsigned long long)count_of(plugin, "api_major"),
             (unsigned long long)count_of(plugin, "api_minor"));
    return keep(counting, api, &stats->plugin_api);
}

static keel_status_t count_store_error(counting_t *counting, json_t *event) {
    if (counting->stats->store_errors++) return NULL;
    return keep(counting, text_of(event, "message"), &counting->stats->first_store_error);
}

static keel_status_t count_fallback(counting_t *counting, json_t *event) {
    if (counting->stats->fallbacks++) return NULL;
    return keep(counting, text_of(event, "message"), &counting->stats->first_fallback);
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

static keel_status_t count_end(counting_t *counting, json_t *event) {
    process_t *process;
    KEEL_TRY(process_of(counting, event, &process));
    process->ended = true;
    process->wall = number_of(event, "wall");
    return NULL;
}

static keel_status_t count_event(counting_t *counting, json_t *event) {
    static const struct {
        const char *name;
        keel_status_t (*count)(counting_t *counting, json_t *event);
    } kinds[] = {
        {"start", count_start},
        {"compile", count_compile},
        {"load", count_load},
        {"miss", count_miss},
        {"uncacheable", count_uncacheable},
        {"publish", count_publish},
        {"store_error", count_store_error},
        {"fallback", count_fallback},
        {"end", count_end},
    };
    keel_stats_t *stats = counting->stats;
    double time = number_of(event, "t");
    static const double latest = 9e9; // nanoseconds since 1970 hold no more
    if (time > 0 && time < latest && (stats->started == 0 || time < stats->started))
        stats->started = time;
    if (time > counting->last) counting->last = time;
    process_t *process;
    KEEL_TRY(process_of(counting, event, &process));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(text_of(event, "event"), kinds[i].name) == 0)
            KEEL_TRY(kinds[i].count(counting, event));
    return count_executes(counting, event);
}

// ---- second pass: steps ------------------------------------------------------------------------

static double work_of(const keel_stats_program_t *program) {
    return (double)(program->ops ? program->ops : 1) * (double)program->executes;
}

static void find_leading(counting_t *counting) {
    const keel_stats_t *stats = counting->stats;
    double most = 0;
    for (size_t i = 0; i < stats->program_count; ++i) {
        double work = 0;
        for (size_t j = 0; j < stats->program_count; ++j)
            if (strcmp(stats->programs[i].name, stats->programs[j].name) == 0)
                work += work_of(&stats->programs[j]);
        if (work <= most) continue;
        most = work;
        counting->leading = stats->programs[i].name;
    }
}

static uint64_t leading_executes(const counting_t *counting, json_t *event) {
    uint64_t sum = 0;
    const char *digest;
    json_t *value;
    json_object_foreach(json_object_get(event, "executes"), digest, value) {
        const uint64_t *index =
            keel_map_find(&counting->by_program, keel_str_bytes(keel_str(digest)));
        if (!index || !counting->leading ||
            strcmp(counting->stats->programs[*index].name, counting->leading) != 0)
            continue;
        json_int_t number = json_integer_value(value);
        if (number > 0) sum += (uint64_t)number;
    }
    return sum;
}

static keel_status_t add_recompile(counting_t *counting, json_t *event, uint64_t step) {
    keel_stats_t *stats = counting->stats;
    void *grown = stats->recompiles;
    KEEL_TRY(keel_realloc_array(stats->recompile_count + 1, sizeof *stats->recompiles, &grown));
    stats->recompiles = grown;
    keel_stats_recompile_t *recompile = &stats->recompiles[stats->recompile_count];
    *recompile = (keel_stats_recompile_t){.step = step, .seconds = number_of(event, "seconds")};
    KEEL_TRY(keep(counting, text_of(event, "name"), &recompile->name));
    KEEL_TRY(keep(counting, text_of(event, "program"), &recompile->program));
    KEEL_TRY(site_of(counting, event, &recompile->site));
    stats->recompile_seconds += recompile->seconds;
    ++stats->recompile_count;
    return NULL;
}

static keel_status_t step_event(counting_t *counting, json_t *event) {
    process_t *process;
    KEEL_TRY(process_of(counting, event, &process));
    process->steps += leading_executes(counting, event);
    const char *kind = text_of(event, "event");
    bool compile = strcmp(kind, "compile") == 0;
    bool loaded = strcmp(kind, "load") == 0 && strcmp(text_of(event, "tier"), "memory") != 0;
    if (compile || loaded) process->settled = process->steps + 1;
    if (compile && json_is_true(json_object_get(event, "recompile")))
        KEEL_TRY(add_recompile(counting, event, process->steps + 1));
    return NULL;
}

// ---- all together ------------------------------------------------------------------------------

static void sum_up(counting_t *counting) {
    keel_stats_t *stats = counting->stats;
    stats->processes = counting->process_count;
    stats->wall_seconds = counting->last - stats->started;
    for (size_t i = 0; i < counting->process_count; ++i) {
        const process_t *process = &counting->processes[i];
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

static keel_status_t count_all(counting_t *counting) {
    size_t index;
    json_t *event;
    json_array_foreach(counting->events, index, event) KEEL_TRY(count_event(counting, event));
    find_leading(counting);
    json_array_foreach(counting->events, index, event) KEEL_TRY(step_event(counting, event));
    sum_up(counting);
    if (counting->stats->program_count)
        qsort(counting->stats->programs, counting->stats->program_count,
              sizeof *counting->stats->programs, by_cost);
    return NULL;
}

static keel_status_t collect(void *context, const struct json_t *event) {
    counting_t *counting = context;
    // Kept by reference; nobody changes it.
    if (json_array_append(counting->events, (json_t *)(uintptr_t)event) == 0) return NULL;
    return keel_status_make(KEEL_NO_MEMORY, "out of memory: keeping the journal's events");
}

static keel_status_t parse(keel_bytes_t bytes, const char *id, const char *path,
                           keel_stats_t *stats) {
    counting_t counting = {.stats = stats, .events = json_array()};
    keel_map_initialize(&counting.by_identity);
    keel_map_initialize(&counting.by_program);
    keel_status_t status = keel_strdup(keel_str(path), &stats->path);
    if (!status) status = keep(&counting, id, &stats->id);
    if (!status) status = keel_journal_parse(bytes, collect, &counting, &stats->damage);
    if (!status) status = count_all(&counting);
    json_decref(counting.events);
    keel_map_deinitialize(&counting.by_identity);
    keel_map_deinitialize(&counting.by_program);
    keel_free(counting.processes);
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
    enum { LIMIT_BITS = 32 };
    *out = (keel_stats_t){0};
    char *path;
    uint8_t *data = NULL;
    size_t size = 0;
    KEEL_TRY(keel_journal_path(run_dir, id, &path));
    // Read, not mapped: a file that shrinks under a mapping kills its reader.
    keel_status_t status = keel_file_read(path, (uint64_t)1 << LIMIT_BITS, &data, &size);
    if (!status) status = keel_stats_parse(keel_bytes(data, size), id, path, out);
    keel_free(data);
    keel_free(path);
    return status;
}

void keel_stats_deinitialize(keel_stats_t *stats) {
    keel_arena_deinitialize(&stats->texts);
    keel_free(stats->programs);
    keel_free(stats->recompiles);
    keel_free(stats->path);
    *stats = (keel_stats_t){0};
}
