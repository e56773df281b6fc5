#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "journal/journal.h"

struct keel_journal_t {
    char *run_dir;
    char *path;
    char id[KEEL_RUN_ID_SIZE];
    atomic_bool off; // something could not be written, and that was said
};

enum {
    EVENT_LIMIT = 1 << 20,
    ARGUMENTS_LIMIT = 1 << 16,
    VALUE_LIMIT = 512, // of a component's readable text
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
           strcmp(text, "latest") != 0;
}

keel_status_t keel_journal_path(const char *run_dir, const char *id, char **out) {
    return keel_path(out, "%s/%s/journal.ndjson", run_dir, id);
}

static keel_status_t open_journal(const char *run_dir, const char *run_id,
                                  keel_journal_t *journal) {
    if (run_id && keel_journal_is_id(run_id))
        memcpy(journal->id, run_id, strlen(run_id) + 1);
    else
        keel_journal_make_id(journal->id);
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

void keel_journal_close(keel_journal_t *journal) {
    if (!journal) return;
    keel_free(journal->run_dir);
    keel_free(journal->path);
    keel_free(journal);
}

const char *keel_journal_id(const keel_journal_t *journal) {
    return journal ? journal->id : "";
}

static void give_up(keel_journal_t *journal, keel_status_t status) {
    atomic_store(&journal->off, true);
    keel_log_once("journal", "run %s: %s; this run is not recorded any further", journal->id,
                  keel_status_message(status));
    keel_status_ignore(status);
}

// ---- fields ------------------------------------------------------------------------------------

static void name_field(keel_buffer_t *line, const char *name) {
    keel_buffer_format(line, ",\"%s\":", name);
}

static void text_field(keel_buffer_t *line, const char *name, const char *text) {
    if (!text) return;
    name_field(line, name);
    keel_buffer_json_str(line, keel_str(text));
}

static void number_field(keel_buffer_t *line, const char *name, uint64_t number) {
    keel_buffer_format(line, ",\"%s\":%" PRIu64, name, number);
}

static void seconds_field(keel_buffer_t *line, const char *name, double seconds) {
    // Not a number, and infinities, are no JSON; a locale's comma is none either.
    uint64_t nanoseconds = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
    keel_buffer_format(line, ",\"%s\":%" PRIu64 ".%09" PRIu64, name, nanoseconds / 1000000000u,
                       nanoseconds % 1000000000u);
}

static void true_field(keel_buffer_t *line, const char *name, bool value) {
    keel_buffer_format(line, ",\"%s\":%s", name, value ? "true" : "false");
}

static void digest_field(keel_buffer_t *line, const char *name, const keel_digest_t *digest) {
    if (!digest) return;
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    keel_buffer_format(line, ",\"%s\":\"%s\"", name, hex);
}

static void subject_fields(keel_buffer_t *line, const keel_journal_subject_t *subject) {
    digest_field(line, "program", subject->program);
    text_field(line, "name", subject->name);
    digest_field(line, "key", subject->key);
}

// An object without the comma that its first field brings.
static void close_object(keel_buffer_t *line, size_t opened_at) {
    if (!line->failed && line->size > opened_at && line->data[opened_at] == ',')
        line->data[opened_at] = ' ';
    keel_buffer_byte(line, '}');
}

static size_t open_object(keel_buffer_t *line, const char *name) {
    name_field(line, name);
    keel_buffer_byte(line, '{');
    return line->size;
}

static void site_field(keel_buffer_t *line, const keel_journal_site_t *site) {
    if (!site->file) return;
    size_t at = open_object(line, "site");
    text_field(line, "file", site->file);
    number_field(line, "line", site->line);
    text_field(line, "function", site->function);
    text_field(line, "call_file", site->call_file);
    if (site->call_file) number_field(line, "call_line", site->call_line);
    close_object(line, at);
}

static void counts_field(keel_buffer_t *line, keel_journal_counts_t counts) {
    if (!counts.size) return;
    size_t at = open_object(line, "executes");
    for (size_t i = 0; i < counts.size; ++i) {
        if (!counts.data[i].count) continue;
        char hex[KEEL_DIGEST_HEX];
        keel_digest_hex(&counts.data[i].program, hex);
        number_field(line, hex, counts.data[i].count);
    }
    close_object(line, at);
}

static bool is_set(const keel_digest_t *digest) {
    static const keel_digest_t zero;
    return !keel_digest_equal(digest, &zero);
}

static void components_field(keel_buffer_t *line, const keel_key_t *key) {
    if (!key) return;
    size_t at = open_object(line, "components");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (is_set(&key->components[i]))
            digest_field(line, keel_component_name((keel_component_t)i), &key->components[i]);
    close_object(line, at);
    at = open_object(line, "values");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const char *value = key->values[i];
        if (value && *value && strlen(value) <= VALUE_LIMIT)
            text_field(line, keel_component_name((keel_component_t)i), value);
    }
    close_object(line, at);
}

// ---- events ------------------------------------------------------------------------------------

// False where nothing is to be written.
static bool begin(keel_journal_t *journal, keel_buffer_t *line, const char *event) {
    if (!journal || atomic_load_explicit(&journal->off, memory_order_relaxed)) return false;
    keel_buffer_initialize(line, EVENT_LIMIT);
    uint64_t micros = keel_clock_wall() / 1000u;
    keel_buffer_format(line, "{\"event\":\"%s\",\"t\":%" PRIu64 ".%06" PRIu64 ",\"pid\":%d", event,
                       micros / 1000000u, micros % 1000000u, (int)getpid());
    return true;
}

static void finish(keel_journal_t *journal, keel_buffer_t *line) {
    keel_buffer_text(line, "}\n");
    keel_status_t status = keel_buffer_status(line);
    if (!status) status = keel_file_append(journal->path, keel_buffer_bytes(line));
    if (status) give_up(journal, status);
    keel_buffer_deinitialize(line);
}

// The process's own command line, as the system knows it.
static void arguments_field(keel_buffer_t *line) {
    uint8_t *data = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read("/proc/self/cmdline", ARGUMENTS_LIMIT, &data, &size);
    keel_status_ignore(status);
    if (status) return;
    name_field(line, "argv");
    keel_buffer_byte(line, '[');
    for (size_t at = 0; at < size;) {
        size_t length = strnlen((const char *)data + at, size - at);
        if (at) keel_buffer_byte(line, ',');
        keel_buffer_json_str(line, (keel_str_t){(const char *)data + at, length});
        at += length + 1;
    }
    keel_buffer_byte(line, ']');
    keel_free(data);
}

static void flags_field(keel_buffer_t *line) {
    static const char *const names[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "TPU_LIBRARY_PATH",
                                        "JAX_PLATFORMS", "PJRT_DEVICE"};
    size_t at = open_object(line, "flags");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        text_field(line, names[i], getenv(names[i]));
    close_object(line, at);
}

void keel_journal_start(keel_journal_t *journal, const keel_journal_start_t *event) {
    keel_buffer_t line;
    if (!begin(journal, &line, "start")) return;
    text_field(&line, "keel", KEEL_VERSION);
    arguments_field(&line);
    char text[PATH_MAX];
    text_field(&line, "cwd", getcwd(text, sizeof text));
    text_field(&line, "host", gethostname(text, sizeof text) ? NULL : text);
    text_field(&line, "python", event->python);
    text_field(&line, "mode", event->mode);
    text_field(&line, "cache_dir", event->cache_dir);
    size_t at = open_object(&line, "plugin");
    text_field(&line, "path", event->plugin.path);
    text_field(&line, "name", event->plugin.name);
    digest_field(&line, "build", event->plugin.build);
    number_field(&line, "api_major", (uint64_t)event->plugin.api_major);
    number_field(&line, "api_minor", (uint64_t)event->plugin.api_minor);
    text_field(&line, "platform", event->plugin.platform);
    text_field(&line, "version", event->plugin.version);
    close_object(&line, at);
    flags_field(&line);
    components_field(&line, event->key);
    finish(journal, &line);
}

void keel_journal_compile(keel_journal_t *journal, const keel_journal_compile_t *event) {
    keel_buffer_t line;
    if (!begin(journal, &line, "compile")) return;
    subject_fields(&line, &event->subject);
    seconds_field(&line, "seconds", event->seconds);
    seconds_field(&line, "overhead_seconds", event->overhead_seconds);
    if (event->ops) number_field(&line, "ops", event->ops);
    number_field(&line, "bytes", event->bytes);
    text_field(&line, "format", event->format);
    site_field(&line, &event->site);
    true_field(&line, "recompile", event->recompile);
    true_field(&line, "cacheable", !event->uncacheable);
    counts_field(&line, event->executes);
    finish(journal, &line);
}

void keel_journal_load(keel_journal_t *journal, const keel_journal_load_t *event) {
    keel_buffer_t line;
    if (!begin(journal, &line, "load")) return;
    subject_fields(&line, &event->subject);
    text_field(&line, "tier", event->tier);
    seconds_field(&line, "seconds", event->seconds);
    seconds_field(&line, "overhead_seconds", event->overhead_seconds);
    if (event->ops) number_field(&line, "ops", event->ops);
    number_field(&line, "bytes", event->bytes);
    number_field(&line, "payload_bytes", event->payload_bytes);
    seconds_field(&line, "compile_seconds", event->compile_seconds);
    text_field(&line, "format", event->format);
    site_field(&line, &event->site);
    true_field(&line, "recompile", event->recompile);
    counts_field(&line, event->executes);
    finish(journal, &line);
}

void keel_journal_miss(keel_journal_t *journal, const keel_journal_miss_t *event) {
    keel_buffer_t line;
    if (!begin(journal, &line, "miss")) return;
    subject_fields(&line, &event->subject);
    text_field(&line, "reason", event->reason);
    components_field(&line, event->key);
    finish(journal, &line);
}

void keel_journal_uncacheable(keel_journal_t *journal, const keel_journal_uncacheable_t *event) {
    keel_buffer_t line;
    if (!begin(journal, &line, "uncacheable")) return;
    subject_fields(&line, &event->subject);
    text_field(&line, "reason", event->reason);
    name_field(&line, "targets");
    keel_buffer_byte(&line, '[');
    if (event->target && *event->target) keel_buffer_json_str(&line, keel_str(event->target));
    keel_buffer_byte(&line, ']');
    finish(journal, &line);
}

void keel_journal_publish(keel_journal_t *journal, const keel_journal_publish_t *event) {
    keel_buffer_t line;
    if (!begin(journal, &line, "publish")) return;
    digest_field(&line, "key", event->key);
    text_field(&line, "name", event->name);
    number_field(&line, "payload_bytes", event->payload_bytes);
    seconds_field(&line, "seconds", event->seconds);
    finish(journal, &line);
}

void keel_journal_store_error(keel_journal_t *journal, const char *what, const keel_digest_t *key,
                              const char *message) {
    keel_buffer_t line;
    if (!begin(journal, &line, "store_error")) return;
    text_field(&line, "what", what);
    digest_field(&line, "key", key);
    text_field(&line, "message", message);
    finish(journal, &line);
}

void keel_journal_fallback(keel_journal_t *journal, const char *what,
                           const keel_journal_subject_t *subject, const char *message) {
    keel_buffer_t line;
    if (!begin(journal, &line, "fallback")) return;
    text_field(&line, "what", what);
    if (subject) subject_fields(&line, subject);
    text_field(&line, "message", message);
    finish(journal, &line);
}

void keel_journal_compile_error(keel_journal_t *journal, const keel_journal_subject_t *subject,
                                const char *message) {
    keel_buffer_t line;
    if (!begin(journal, &line, "compile_error")) return;
    if (subject) subject_fields(&line, subject);
    text_field(&line, "message", message);
    finish(journal, &line);
}

void keel_journal_executes(keel_journal_t *journal, keel_journal_counts_t counts) {
    keel_buffer_t line;
    if (!begin(journal, &line, "executes")) return;
    counts_field(&line, counts);
    finish(journal, &line);
}

// Since the kernel started this process, by the clock that the kernel stamped it with.
static double process_seconds(void) {
    uint8_t *data = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read("/proc/self/stat", 4096, &data, &size);
    keel_status_ignore(status);
    if (status) return 0;
    // The 22nd field; the second, the program's name, may hold blanks but ends at the last ')'.
    double seconds = 0;
    char *at = size ? memrchr(data, ')', size) : NULL;
    if (at) {
        data[size - 1] = 0;
        for (int field = 2; at && field < 22; ++field)
            at = strchr(at + 1, ' ');
        struct timespec now;
        clock_gettime(CLOCK_BOOTTIME, &now);
        double ticks = at ? (double)strtoull(at + 1, NULL, 10) : 0;
        if (at)
            seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 -
                      ticks / (double)sysconf(_SC_CLK_TCK);
    }
    keel_free(data);
    return seconds;
}

void keel_journal_end(keel_journal_t *journal, uint64_t total, keel_journal_counts_t executes) {
    keel_buffer_t line;
    if (!begin(journal, &line, "end")) return;
    number_field(&line, "total", total);
    seconds_field(&line, "wall", process_seconds());
    counts_field(&line, executes);
    finish(journal, &line);
}

// ---- programs ----------------------------------------------------------------------------------

static keel_status_t compress(keel_bytes_t bytes, uint8_t **out, size_t *out_size) {
    size_t bound = ZSTD_compressBound(bytes.size);
    void *memory;
    KEEL_TRY(keel_alloc(bound, &memory));
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t size = 0;
    bool good = context != NULL;
    if (good) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        size = ZSTD_compress2(context, memory, bound, bytes.data, bytes.size);
        good = !ZSTD_isError(size);
    }
    ZSTD_freeCCtx(context);
    if (!good) {
        keel_free(memory);
        return keel_status_make(KEEL_NO_MEMORY, "out of memory: compressing %zu bytes", bytes.size);
    }
    *out = memory;
    *out_size = size;
    return NULL;
}

// No fsync: a program is evidence for people, and one that a power cut tore is seen by its
// checksum.
static keel_status_t write_program(const char *folder, const char *path, keel_bytes_t bytes) {
    static atomic_uint counter;
    KEEL_TRY(keel_directory_make(folder));
    uint8_t *data = NULL;
    size_t size = 0;
    KEEL_TRY(compress(bytes, &data, &size));
    char *temporary = NULL;
    keel_status_t status = keel_path(&temporary, "%s/.new.%d.%u", folder, (int)getpid(),
                                     atomic_fetch_add(&counter, 1));
    if (!status) status = keel_file_create(temporary, keel_bytes(data, size));
    if (!status) status = keel_file_rename(temporary, path);
    if (status && temporary) keel_status_ignore(keel_file_remove(temporary));
    keel_free(temporary);
    keel_free(data);
    return status;
}

static bool is_kept(const char *path) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    bool kept = !status && facts.is_file && facts.size > 0;
    keel_status_ignore(status);
    return kept;
}

void keel_journal_program(keel_journal_t *journal, const keel_digest_t *program, const char *format,
                          keel_bytes_t bytes) {
    if (!journal || atomic_load_explicit(&journal->off, memory_order_relaxed)) return;
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(program, hex);
    char *folder = NULL, *path = NULL;
    keel_status_t status = keel_path(&folder, "%s/programs", journal->run_dir);
    if (!status) status = keel_path(&path, "%s/%s.%s.zst", folder, hex, format);
    if (!status && !is_kept(path)) status = write_program(folder, path, bytes);
    keel_free(folder);
    keel_free(path);
    if (status) give_up(journal, status);
}
