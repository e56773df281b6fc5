#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "journal/line.h"
#include "journal/program_name.h"

// The line of a start, without which nothing of the process means anything. Without a lock: the
// callers hold their own.
typedef struct start_t {
    struct start_t *older;
    size_t size;
    uint8_t line[];
} start_t;

struct keel_journal_t {
    char *run_dir;
    char *path;
    char id[KEEL_RUN_ID_SIZE];
    uint64_t numbering;        // whose the numbers of programs are
    _Atomic uint64_t lost;     // events that could not be written since the last that was
    _Atomic(start_t *) starts; // among them, the newest first
};

enum {
    EVENT_LIMIT = 1 << 20,
    ARGUMENTS_LIMIT = 1 << 16,
    VALUE_LIMIT = 512, // of a component's readable text, which is only a hint
};

// ---- runs --------------------------------------------------------------------------------------

void keel_journal_make_id(char out[KEEL_RUN_ID_SIZE]) {
    uint64_t now = keel_clock_wall();
    time_t seconds = (time_t)(now / 1000000000u);
    unsigned milliseconds = (unsigned)(now / 1000000u % 1000u);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    uint32_t chance = (uint32_t)(now * 2654435761u) ^ (uint32_t)getpid();
    if (getrandom(&chance, sizeof chance, GRND_NONBLOCK) < 0) chance ^= (uint32_t)now;
    size_t used = strftime(out, KEEL_RUN_ID_SIZE, "%Y%m%d-%H%M%S-", &parts);
    snprintf(out + used, KEEL_RUN_ID_SIZE - used, "%03x%05x", milliseconds, chance & 0xfffffu);
}

bool keel_journal_is_id(const char *text) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    size_t length = strlen(text);
    return length > 0 && length < KEEL_RUN_ID_SIZE && text[0] != '.' &&
           strspn(text, allowed) == length && strcmp(text, "programs") != 0 &&
           strcmp(text, "history") != 0 && strcmp(text, "sources") != 0 &&
           strcmp(text, "latest") != 0;
}

keel_status_t keel_journal_path(const char *run_dir, const char *id, char **out) {
    return keel_path(out, "%s/%s/journal.ndjson", run_dir, id);
}

keel_status_t keel_journal_explained_path(const char *run_dir, const char *id, char **out) {
    return keel_path(out, "%s/%s/explained.ndjson", run_dir, id);
}

// Two processes of a run may have the same pid, in two containers or on two hosts, and a process
// may have several journals.
static uint64_t make_numbering(void) {
    static atomic_uint opened;
    char name[KEEL_PROCESS_NAME + 16];
    keel_process_name(name);
    size_t size = strlen(name);
    size += (size_t)snprintf(name + size, 16, " %u", atomic_fetch_add(&opened, 1));
    return (keel_quick_hash(keel_bytes(name, size)) >> (64 - KEEL_NUMBERING_BITS)) | 1;
}

static keel_status_t open_journal(const char *run_dir, const char *run_id,
                                  keel_journal_t *journal) {
    if (run_id && keel_journal_is_id(run_id))
        memcpy(journal->id, run_id, strlen(run_id) + 1);
    else
        keel_journal_make_id(journal->id);
    journal->numbering = make_numbering();
    KEEL_TRY(keel_strdup(keel_str(run_dir), &journal->run_dir));
    KEEL_TRY(keel_journal_path(run_dir, journal->id, &journal->path));
    char *folder;
    KEEL_TRY(keel_path(&folder, "%s/%s", run_dir, journal->id));
    keel_status_t status = keel_directory_make(folder);
    keel_free(folder);
    return status;
}

keel_status_t keel_journal_open(const char *run_dir, const char *run_id, keel_journal_t **out) {
    void *memory;
    *out = NULL;
    KEEL_TRY(keel_calloc(1, sizeof(keel_journal_t), &memory));
    keel_journal_t *journal = memory;
    keel_status_t status = open_journal(run_dir, run_id, journal);
    if (status) {
        keel_journal_close(journal);
        return status;
    }
    *out = journal;
    return NULL;
}

static void free_starts(start_t *newest) {
    while (newest) {
        start_t *older = newest->older;
        keel_free(newest);
        newest = older;
    }
}

void keel_journal_close(keel_journal_t *journal) {
    if (!journal) return;
    free_starts(atomic_load(&journal->starts));
    keel_free(journal->run_dir);
    keel_free(journal->path);
    keel_free(journal);
}

const char *keel_journal_id(const keel_journal_t *journal) {
    return journal ? journal->id : "";
}

keel_status_t keel_journal_lost_path(const char *run_dir, const char *id, char **out) {
    return keel_path(out, "%s/%s/" KEEL_JOURNAL_LOST_FOLDER, run_dir, id);
}

// A folder takes no descriptor and no room in a file, so it can often be made where the journal
// cannot be written.
static void mark_lost(const keel_journal_t *journal) {
    char *path;
    keel_status_t status = keel_journal_lost_path(journal->run_dir, journal->id, &path);
    if (!status) {
        status = keel_directory_make_one(path);
        keel_free(path);
    }
    keel_status_ignore(status); // there is no other place to say so
}

// Takes the status.
static void lose(keel_journal_t *journal, uint64_t events, keel_status_t status) {
    if (!atomic_fetch_add(&journal->lost, events)) mark_lost(journal);
    keel_log_once("journal", "run %s: %s; the run continues, but its record has gaps", journal->id,
                  keel_status_message(status));
    keel_status_ignore(status);
}

// ---- fields ------------------------------------------------------------------------------------

// `number`: of the program that the event is about; 0: it has none.
static void counts_field(const keel_journal_t *journal, keel_json_t *line, uint64_t number,
                         keel_journal_counts_t counts) {
    size_t unnamed = 0, named = 0;
    for (size_t i = 0; i < counts.size; ++i)
        ++*(counts.data[i].number ? &named : &unnamed);
    if (number || named) keel_json_unsigned(line, "numbering", journal->numbering);
    if (number) keel_json_unsigned(line, "number", number);
    if (unnamed) keel_line_object(line, "executes");
    for (size_t i = 0; unnamed && i < counts.size; ++i) {
        if (!counts.data[i].count || counts.data[i].number) continue;
        char hex[KEEL_DIGEST_HEX];
        keel_digest_hex(&counts.data[i].program, hex);
        keel_json_unsigned(line, hex, counts.data[i].count);
    }
    if (unnamed) keel_json_end_object(line);
    if (named) keel_json_array(line, "counts");
    for (size_t i = 0; named && i < counts.size; ++i) {
        if (!counts.data[i].count || !counts.data[i].number) continue;
        keel_json_unsigned(line, NULL, counts.data[i].number);
        keel_json_unsigned(line, NULL, counts.data[i].count);
    }
    if (named) keel_json_end_array(line);
}

static void leading_field(keel_json_t *line, keel_journal_leading_t leading) {
    if (!leading.program) return;
    keel_line_object(line, "leading");
    keel_line_digest(line, "program", leading.program);
    keel_json_unsigned(line, "executes", leading.executes);
    keel_json_end_object(line);
}

static bool is_set(const keel_digest_t *digest) {
    static const keel_digest_t zero;
    return !keel_digest_equal(digest, &zero);
}

// Texts of values of at most `limit` bytes.
static void components_field(keel_json_t *line, const keel_key_t *key, size_t limit) {
    if (!key) return;
    keel_line_object(line, "components");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (is_set(&key->components[i]))
            keel_line_digest(line, keel_component_name((keel_component_t)i), &key->components[i]);
    keel_json_end_object(line);
    keel_line_object(line, "values");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const char *value = key->values[i];
        if (value && *value && strlen(value) <= limit)
            keel_line_text(line, keel_component_name((keel_component_t)i), value);
    }
    keel_json_end_object(line);
}

// ---- events ------------------------------------------------------------------------------------

bool keel_line_begin(keel_journal_t *journal, keel_line_t *line, const char *event) {
    if (!journal) return false;
    keel_buffer_initialize(&line->bytes, EVENT_LIMIT);
    line->json = keel_json(&line->bytes, KEEL_JSON_COMPACT);
    keel_line_begin_at(&line->json, event, keel_seconds(keel_clock_wall()), getpid());
    return true;
}

static void put_start(keel_journal_t *journal, start_t *start) {
    start->older = atomic_load(&journal->starts);
    while (!atomic_compare_exchange_weak(&journal->starts, &start->older, start))
        ;
}

// Keeps the line for the next one that can be written. Without memory it is lost.
static void keep_start(keel_journal_t *journal, keel_bytes_t line) {
    void *memory;
    keel_status_t status = keel_alloc(sizeof(start_t) + line.size, &memory);
    keel_status_ignore(status);
    if (status) return;
    start_t *start = memory;
    start->size = line.size;
    memcpy(start->line, line.data, line.size);
    put_start(journal, start);
}

// All that are kept, the oldest first.
static start_t *take_starts(keel_journal_t *journal) {
    start_t *newest = atomic_exchange(&journal->starts, NULL), *oldest = NULL;
    while (newest) {
        start_t *older = newest->older;
        newest->older = oldest;
        oldest = newest;
        newest = older;
    }
    return oldest;
}

static void add_loss(uint64_t lost, char message[128], keel_buffer_t *out) {
    snprintf(message, 128, "%" PRIu64 " event%s lost: the journal could not be written", lost,
             lost == 1 ? " was" : "s were");
    keel_json_t json = keel_json(out, KEEL_JSON_COMPACT);
    keel_line_begin_at(&json, "fallback", keel_seconds(keel_clock_wall()), getpid());
    keel_line_text(&json, "what", KEEL_JOURNAL_LOST);
    keel_line_text(&json, "message", message);
    keel_line_end(&json);
}

// The line, after the starts that could not be written, and one that says how many others were
// lost.
static keel_status_t append_after_loss(keel_journal_t *journal, keel_bytes_t bytes, uint64_t lost) {
    char message[128] = "";
    keel_buffer_t all;
    keel_buffer_initialize(&all, 0);
    start_t *starts = take_starts(journal);
    for (const start_t *start = starts; start; start = start->older)
        keel_buffer_append(&all, start->line, start->size);
    if (lost) add_loss(lost, message, &all);
    keel_buffer_append(&all, bytes.data, bytes.size);
    keel_status_t status = keel_buffer_status(&all);
    if (!status) status = keel_file_append(journal->path, keel_buffer_bytes(&all));
    while (status && starts) {
        start_t *newer = starts->older;
        put_start(journal, starts);
        starts = newer;
    }
    free_starts(starts);
    if (!status && lost)
        keel_log_once("journal again", "run %s is recorded again: %s", journal->id, message);
    keel_buffer_deinitialize(&all);
    return status;
}

static void finish_line(keel_journal_t *journal, keel_line_t *line, bool is_start) {
    keel_line_end(&line->json);
    keel_bytes_t bytes = keel_buffer_bytes(&line->bytes);
    keel_status_t status = keel_buffer_status(&line->bytes);
    uint64_t lost = status ? 0 : atomic_exchange(&journal->lost, 0);
    bool is_whole = !status;
    if (is_whole && (lost || atomic_load(&journal->starts)))
        status = append_after_loss(journal, bytes, lost);
    else if (is_whole)
        status = keel_file_append(journal->path, bytes);
    bool is_kept = status && is_whole && is_start;
    if (is_kept) keep_start(journal, bytes);
    if (status) lose(journal, lost + !is_kept, status);
    keel_buffer_deinitialize(&line->bytes);
}

void keel_line_finish(keel_journal_t *journal, keel_line_t *line) {
    finish_line(journal, line, false);
}

// The process's own command line, as the system knows it.
static void arguments_field(keel_json_t *line) {
    uint8_t *data = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read("/proc/self/cmdline", ARGUMENTS_LIMIT, &data, &size);
    keel_status_ignore(status);
    if (status) return;
    keel_json_array(line, "argv");
    for (size_t at = 0; at < size;) {
        size_t length = strnlen((const char *)data + at, size - at);
        keel_json_str(line, NULL, (keel_str_t){(const char *)data + at, length});
        at += length + 1;
    }
    keel_json_end_array(line);
    keel_free(data);
}

static void flags_field(keel_json_t *line) {
    static const char *const names[] = {"XLA_FLAGS",     "LIBTPU_INIT_ARGS",  "TPU_LIBRARY_PATH",
                                        "JAX_PLATFORMS", "PJRT_DEVICE",       "XLA_HLO_DEBUG",
                                        "XLA_USE_BF16",  "XLA_DOWNCAST_BF16", "KEEL_PROFILE"};
    keel_line_object(line, "flags");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        keel_line_text(line, names[i], getenv(names[i]));
    keel_json_end_object(line);
}

static void target_field(keel_json_t *line, const keel_journal_target_t *target) {
    if (!target->name) return;
    keel_line_object(line, "target");
    keel_line_text(line, "name", target->name);
    keel_line_text(line, "platform", target->platform);
    keel_line_text(line, "kind", target->kind);
    keel_json_unsigned(line, "devices", target->devices);
    keel_json_unsigned(line, "processes", target->processes);
    if (target->processes > 1) keel_json_unsigned(line, "process", target->process);
    if (target->memory) keel_json_unsigned(line, "memory", target->memory);
    keel_line_text(line, "compile", target->compiles);
    keel_line_text(line, "values", target->values);
    size_t most = sizeof target->assumed / sizeof *target->assumed;
    if (*target->assumed) {
        keel_json_array(line, "assumed");
        for (size_t i = 0; i < most && target->assumed[i]; ++i)
            keel_json_string(line, NULL, target->assumed[i]);
        keel_json_end_array(line);
    }
    keel_json_end_object(line);
}

void keel_journal_start(keel_journal_t *journal, const keel_journal_start_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "start")) return;
    keel_line_text(&line.json, "keel", KEEL_VERSION);
    arguments_field(&line.json);
    char text[PATH_MAX];
    keel_line_text(&line.json, "cwd", getcwd(text, sizeof text));
    keel_line_text(&line.json, "host", gethostname(text, sizeof text) ? NULL : text);
    keel_line_text(&line.json, "python", event->python);
    keel_line_text(&line.json, "mode", event->mode);
    keel_line_text(&line.json, "cache_dir", event->cache_dir);
    keel_line_object(&line.json, "plugin");
    keel_line_text(&line.json, "path", event->plugin.path);
    keel_line_text(&line.json, "name", event->plugin.name);
    keel_line_digest(&line.json, "build", event->plugin.build);
    keel_json_unsigned(&line.json, "api_major", (uint64_t)event->plugin.api_major);
    keel_json_unsigned(&line.json, "api_minor", (uint64_t)event->plugin.api_minor);
    keel_line_text(&line.json, "platform", event->plugin.platform);
    keel_line_text(&line.json, "version", event->plugin.version);
    keel_json_end_object(&line.json);
    flags_field(&line.json);
    keel_line_text(&line.json, "script", event->script);
    target_field(&line.json, &event->target);
    keel_json_unsigned(&line.json, "client", event->client);
    char process[KEEL_PROCESS_NAME];
    keel_process_name(process);
    if (*process) keel_line_text(&line.json, "process", process);
    keel_line_real(&line.json, "began", keel_process_began());
    if (event->client_seconds > 0)
        keel_line_real(&line.json, "client_seconds", event->client_seconds);
    components_field(&line.json, event->key, KEEL_KEY_VALUE_LIMIT);
    finish_line(journal, &line, true);
}

static void preparing_fields(keel_json_t *json, double traced, double lowered) {
    if (traced > 0) keel_line_real(json, "traced_seconds", traced);
    if (lowered > 0) keel_line_real(json, "lowered_seconds", lowered);
}

void keel_journal_compile(keel_journal_t *journal, const keel_journal_compile_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "compile")) return;
    keel_line_subject(&line.json, &event->subject);
    keel_line_real(&line.json, "seconds", event->seconds);
    keel_line_real(&line.json, "overhead_seconds", event->overhead_seconds);
    preparing_fields(&line.json, event->traced_seconds, event->lowered_seconds);
    if (event->ops) keel_json_unsigned(&line.json, "ops", event->ops);
    keel_json_unsigned(&line.json, "bytes", event->bytes);
    keel_line_text(&line.json, "format", event->format);
    keel_line_digest(&line.json, "options", event->options);
    keel_line_site(&line.json, &event->site);
    keel_json_bool(&line.json, "recompile", event->recompile);
    if (event->is_eager) keel_json_bool(&line.json, "eager", true);
    if (event->has_gradient) keel_json_bool(&line.json, "gradient", true);
    keel_json_bool(&line.json, "cacheable", !event->uncacheable);
    keel_line_text(&line.json, "rehearsed", event->rehearsed);
    if (event->is_guess) keel_json_bool(&line.json, "guess", true);
    if (event->partition_seconds > 0)
        keel_line_real(&line.json, "partition_seconds", event->partition_seconds);
    if (event->times) keel_json_unsigned(&line.json, "times", event->times);
    counts_field(journal, &line.json, event->number, event->executes);
    leading_field(&line.json, event->leading);
    keel_line_finish(journal, &line);
}

void keel_journal_load(keel_journal_t *journal, const keel_journal_load_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "load")) return;
    keel_line_subject(&line.json, &event->subject);
    keel_line_text(&line.json, "tier", event->tier);
    keel_line_text(&line.json, "by", event->by);
    keel_line_real(&line.json, "seconds", event->seconds);
    if (event->ahead_seconds) keel_line_real(&line.json, "ahead_seconds", event->ahead_seconds);
    keel_line_real(&line.json, "overhead_seconds", event->overhead_seconds);
    preparing_fields(&line.json, event->traced_seconds, event->lowered_seconds);
    if (event->ops) keel_json_unsigned(&line.json, "ops", event->ops);
    keel_json_unsigned(&line.json, "bytes", event->bytes);
    keel_json_unsigned(&line.json, "payload_bytes", event->payload_bytes);
    keel_line_real(&line.json, "compile_seconds", event->compile_seconds);
    keel_line_text(&line.json, "format", event->format);
    keel_line_digest(&line.json, "options", event->options);
    keel_line_site(&line.json, &event->site);
    keel_json_bool(&line.json, "recompile", event->recompile);
    if (event->is_eager) keel_json_bool(&line.json, "eager", true);
    if (event->has_gradient) keel_json_bool(&line.json, "gradient", true);
    if (event->times) keel_json_unsigned(&line.json, "times", event->times);
    if (event->times) keel_json_unsigned(&line.json, "step", event->step);
    counts_field(journal, &line.json, event->number, event->executes);
    leading_field(&line.json, event->leading);
    keel_line_finish(journal, &line);
}

void keel_journal_prefetch(keel_journal_t *journal, const keel_journal_prefetch_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "prefetch")) return;
    keel_json_unsigned(&line.json, "planned", event->planned);
    keel_json_unsigned(&line.json, "loaded", event->loaded);
    keel_json_unsigned(&line.json, "used", event->used);
    keel_json_unsigned(&line.json, "bytes", event->bytes);
    keel_line_real(&line.json, "seconds", event->seconds);
    keel_line_finish(journal, &line);
}

void keel_journal_remote(keel_journal_t *journal, const keel_journal_remote_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "remote")) return;
    keel_line_digest(&line.json, "key", event->key);
    keel_line_text(&line.json, "remote", event->remote);
    keel_line_text(&line.json, "got", event->got);
    keel_line_text(&line.json, "why", event->why);
    if (event->bytes) keel_json_unsigned(&line.json, "bytes", event->bytes);
    keel_line_real(&line.json, "seconds", event->seconds);
    keel_line_finish(journal, &line);
}

void keel_journal_miss(keel_journal_t *journal, const keel_journal_miss_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "miss")) return;
    keel_line_subject(&line.json, &event->subject);
    keel_line_text(&line.json, "reason", event->reason);
    components_field(&line.json, event->key, VALUE_LIMIT);
    keel_line_finish(journal, &line);
}

void keel_journal_uncacheable(keel_journal_t *journal, const keel_journal_uncacheable_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "uncacheable")) return;
    keel_line_subject(&line.json, &event->subject);
    keel_line_text(&line.json, "reason", event->reason);
    keel_json_array(&line.json, "targets");
    keel_json_known(&line.json, NULL, event->target, 0);
    keel_json_end_array(&line.json);
    keel_line_finish(journal, &line);
}

void keel_journal_publish(keel_journal_t *journal, const keel_journal_publish_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "publish")) return;
    keel_line_digest(&line.json, "key", event->key);
    keel_line_text(&line.json, "name", event->name);
    keel_json_unsigned(&line.json, "payload_bytes", event->payload_bytes);
    keel_json_bool(&line.json, "proved", event->is_proved);
    keel_line_real(&line.json, "seconds", event->seconds);
    keel_line_finish(journal, &line);
}

void keel_journal_store_error(keel_journal_t *journal, const char *what, const keel_digest_t *key,
                              const char *message) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "store_error")) return;
    keel_line_text(&line.json, "what", what);
    keel_line_digest(&line.json, "key", key);
    keel_line_text(&line.json, "message", message);
    keel_line_finish(journal, &line);
}

void keel_journal_late(keel_journal_t *journal, const char *what, const char *value) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "late")) return;
    keel_line_text(&line.json, "what", what);
    keel_line_text(&line.json, "value", value);
    keel_line_finish(journal, &line);
}

void keel_journal_bytecode(keel_journal_t *journal, uint64_t modules, uint64_t size,
                           const char *why) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "bytecode")) return;
    keel_json_unsigned(&line.json, "modules", modules);
    keel_json_unsigned(&line.json, "size", size);
    keel_line_text(&line.json, "why", why);
    keel_line_finish(journal, &line);
}

void keel_journal_fallback(keel_journal_t *journal, const char *what,
                           const keel_journal_subject_t *subject, const char *message) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "fallback")) return;
    keel_line_text(&line.json, "what", what);
    if (subject) keel_line_subject(&line.json, subject);
    keel_line_text(&line.json, "message", message);
    keel_line_finish(journal, &line);
}

void keel_journal_compile_error(keel_journal_t *journal, const keel_journal_subject_t *subject,
                                const keel_journal_site_t *site, const char *code,
                                const char *message) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "compile_error")) return;
    if (subject) keel_line_subject(&line.json, subject);
    if (site) keel_line_site(&line.json, site);
    keel_line_text(&line.json, "code", code);
    keel_line_text(&line.json, "message", message);
    keel_line_finish(journal, &line);
}

void keel_journal_drift(keel_journal_t *journal, const keel_journal_subject_t *subject,
                        const keel_journal_site_t *site, const char *verdict, const char *message) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "drift")) return;
    keel_line_subject(&line.json, subject);
    keel_line_site(&line.json, site);
    keel_line_text(&line.json, "verdict", verdict);
    keel_line_text(&line.json, "message", message);
    keel_line_finish(journal, &line);
}

// What does not fit in one line goes before it.
static keel_journal_counts_t write_most(keel_journal_t *journal, keel_journal_counts_t counts) {
    enum { PART = 8192 };
    while (journal && counts.size > PART) {
        keel_line_t line;
        if (!keel_line_begin(journal, &line, "executes")) break;
        counts_field(journal, &line.json, 0, (keel_journal_counts_t){counts.data, PART});
        keel_line_finish(journal, &line);
        counts = (keel_journal_counts_t){counts.data + PART, counts.size - PART};
    }
    return counts;
}

void keel_journal_executes(keel_journal_t *journal, keel_journal_counts_t counts,
                           keel_journal_leading_t leading) {
    keel_line_t line;
    counts = write_most(journal, counts);
    if (!keel_line_begin(journal, &line, "executes")) return;
    counts_field(journal, &line.json, 0, counts);
    leading_field(&line.json, leading);
    keel_line_finish(journal, &line);
}

static void write_numbers(keel_json_t *json, const uint32_t *numbers, size_t count) {
    keel_json_array(json, "arguments");
    for (size_t i = 0; i < count; ++i)
        keel_json_unsigned(json, NULL, numbers[i]);
    keel_json_end_array(json);
}

static void write_programs(keel_json_t *json, const keel_digest_t *const *programs, size_t count) {
    keel_json_array(json, "programs");
    for (size_t i = 0; i < count; ++i)
        keel_json_digest(json, NULL, programs[i]);
    keel_json_end_array(json);
}

void keel_journal_inputs(keel_journal_t *journal, const keel_digest_t *program,
                         const keel_digest_t *maker, bool is_again, const uint32_t *arguments,
                         size_t count) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "inputs")) return;
    keel_line_digest(&line.json, "program", program);
    keel_line_digest(&line.json, "maker", maker);
    if (is_again) keel_json_bool(&line.json, "again", true);
    write_numbers(&line.json, arguments, count);
    keel_line_finish(journal, &line);
}

void keel_journal_steady(keel_journal_t *journal, const keel_digest_t *program,
                         const uint32_t *arguments, size_t count,
                         const keel_digest_t *const *programs, size_t program_count) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "steady")) return;
    keel_line_digest(&line.json, "program", program);
    write_numbers(&line.json, arguments, count);
    write_programs(&line.json, programs, program_count);
    keel_line_finish(journal, &line);
}

void keel_journal_abandoned(keel_journal_t *journal, const keel_digest_t *maker, uint64_t results,
                            const keel_digest_t *const *programs, size_t count) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "abandoned")) return;
    keel_line_digest(&line.json, "maker", maker);
    keel_json_unsigned(&line.json, "results", results);
    write_programs(&line.json, programs, count);
    keel_line_finish(journal, &line);
}

void keel_journal_end(keel_journal_t *journal, uint64_t total, keel_journal_counts_t executes) {
    keel_line_t line;
    executes = write_most(journal, executes);
    if (!keel_line_begin(journal, &line, "end")) return;
    keel_json_unsigned(&line.json, "total", total);
    keel_line_real(&line.json, "wall", keel_process_seconds());
    counts_field(journal, &line.json, 0, executes);
    keel_line_finish(journal, &line);
}

// ---- programs ----------------------------------------------------------------------------------

// No fsync: a program is evidence for people, and its checksum reveals one that a power cut
// damaged.
static keel_status_t write_file(const char *folder, const char *path, keel_bytes_t bytes) {
    static atomic_uint counter;
    char *temporary = NULL;
    keel_status_t status = keel_path(&temporary, "%s/.new.%d.%u", folder, (int)getpid(),
                                     atomic_fetch_add(&counter, 1));
    if (!status) status = keel_file_create(temporary, bytes);
    if (!status) status = keel_file_rename(temporary, path);
    if (status && temporary) keel_status_ignore(keel_file_remove(temporary));
    keel_free(temporary);
    return status;
}

static keel_status_t write_program(const char *folder, const char *path, keel_bytes_t bytes,
                                   const keel_program_name_t *name) {
    KEEL_TRY(keel_directory_make(folder));
    uint8_t *data = NULL;
    size_t size = 0;
    KEEL_TRY(keel_pack(bytes, &data, &size));
    if (!name) {
        keel_status_t status = write_file(folder, path, keel_bytes(data, size));
        keel_free(data);
        return status;
    }
    keel_buffer_t named;
    keel_buffer_initialize(&named, 0);
    keel_buffer_append(&named, data, size);
    keel_free(data);
    keel_program_name_write(name, &named);
    keel_status_t status = keel_buffer_status(&named);
    if (!status) status = write_file(folder, path, keel_buffer_bytes(&named));
    keel_buffer_deinitialize(&named);
    return status;
}

static bool is_kept(const char *path) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    bool kept = !status && facts.is_file && facts.size > 0;
    keel_status_ignore(status);
    return kept;
}

static keel_status_t program_path(const keel_journal_t *journal, const keel_digest_t *program,
                                  const char *format, char **out_folder, char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(program, hex);
    KEEL_TRY(keel_path(out_folder, "%s/programs", journal->run_dir));
    return keel_path(out, "%s/%s.%s.zst", *out_folder, hex, format);
}

bool keel_journal_has_program(keel_journal_t *journal, const keel_digest_t *program,
                              const char *format) {
    char *folder = NULL, *path = NULL;
    keel_status_t status = program_path(journal, program, format, &folder, &path);
    bool has = !status && is_kept(path);
    if (has) keel_status_ignore(keel_file_touch(path)); // so that nobody removes it as unused
    keel_free(folder);
    keel_free(path);
    keel_status_ignore(status);
    return has;
}

static void keep_program(keel_journal_t *journal, const keel_digest_t *program, const char *format,
                         keel_bytes_t bytes, const keel_program_name_t *name) {
    if (!journal || keel_journal_has_program(journal, program, format)) return;
    char *folder = NULL, *path = NULL;
    keel_status_t status = program_path(journal, program, format, &folder, &path);
    if (!status) status = write_program(folder, path, bytes, name);
    keel_free(folder);
    keel_free(path);
    if (status) lose(journal, 0, status);
}

void keel_journal_program(keel_journal_t *journal, const keel_digest_t *program, const char *format,
                          keel_bytes_t bytes) {
    keep_program(journal, program, format, bytes, NULL);
}

void keel_journal_whole_program(keel_journal_t *journal, const keel_digest_t *program,
                                const char *format, keel_bytes_t bytes) {
    const keel_program_name_t name = {*program, keel_program_digest(bytes)};
    keep_program(journal, program, format, bytes, &name);
}
