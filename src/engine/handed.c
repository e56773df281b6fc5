// The program itself is not held in memory: it is read from what the run keeps (journal.h) or, of
// another process, from the cache folder.
#include "engine/handed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/background.h"
#include "engine/executables.h"
#include "store/handed.h"

enum {
    PATIENCE = 5, // seconds for a program that is not written yet
    MOST = 1 << 16,
    LIMIT_EVERY = 64, // records of this process: counting those of all takes a look at each
};

struct handed_t {
    pthread_mutex_t lock;
    keel_map_t known; // digest of the bytes -> index
    made_of_t *list;
    size_t count, capacity;
};

keel_status_t handed_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(handed_t), &memory));
    engine->handed = memory;
    pthread_mutex_init(&engine->handed->lock, NULL);
    keel_map_initialize(&engine->handed->known);
    return NULL;
}

void handed_destroy(handed_t *handed) {
    if (!handed) return;
    keel_map_deinitialize(&handed->known);
    keel_free(handed->list);
    pthread_mutex_destroy(&handed->lock);
    keel_free(handed);
}

static keel_bytes_t bytes_of(const keel_digest_t *digest) {
    return keel_bytes(digest->bytes, sizeof digest->bytes);
}

// ---- what the run keeps ------------------------------------------------------------------------

// What the kept file of a program is called by.
static const char *kept_as(const made_of_t *made_of) {
    return strcmp(made_of->format, "hlo") == 0 ? "hlo" : "mlir";
}

static keel_status_t path_of(const keel_engine_t *engine, const keel_digest_t *digest,
                             const char *format, char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    return keel_path(out, "%s/programs/%s.%s.zst",
                     keel_settings_text(&engine->settings, KEEL_SETTING_RUN_DIR), hex, format);
}

static keel_status_t read_kept(const keel_engine_t *engine, const keel_digest_t *digest,
                               const char *format, uint8_t **out, size_t *out_size) {
    char *path;
    KEEL_TRY(path_of(engine, digest, format, &path));
    keel_status_t status = keel_journal_read_program(path, out, out_size);
    keel_free(path);
    return status;
}

static keel_status_t read_both(const keel_engine_t *engine, const made_of_t *made_of,
                               handed_program_t *out) {
    *out = (handed_program_t){.format = ""};
    KEEL_TRY(read_kept(engine, &made_of->program, kept_as(made_of), &out->code, &out->code_size));
    snprintf(out->format, sizeof out->format, "%s", made_of->format);
    keel_status_t status =
        read_kept(engine, &made_of->options, "options", &out->options, &out->options_size);
    if (status) handed_program_release(out);
    return status;
}

// ---- in the background: for other processes ----------------------------------------------------

typedef struct handed_task_t {
    task_t task;
    keel_digest_t bytes;
    made_of_t made_of;
    bool limits; // how many records there are
} handed_task_t;

static keel_status_t write_record(keel_engine_t *engine, const handed_task_t *task,
                                  keel_bytes_t options) {
    char *path;
    uint8_t *packed;
    size_t size;
    KEEL_TRY(path_of(engine, &task->made_of.program, kept_as(&task->made_of), &path));
    keel_status_t status = keel_file_read(path, KEEL_HANDED_LIMIT, &packed, &size);
    keel_free(path);
    KEEL_TRY(status);
    const keel_handed_t record = {.format = keel_str(task->made_of.format),
                                  .options = options,
                                  .packed = keel_bytes(packed, size)};
    status = keel_handed_write(engine->cache_dir, &task->bytes, &record);
    keel_free(packed);
    return status;
}

static void run_task(keel_engine_t *engine, task_t *head) {
    const handed_task_t *task = (const handed_task_t *)head;
    uint8_t *options;
    size_t size;
    keel_status_t status = read_kept(engine, &task->made_of.options, "options", &options, &size);
    if (!status) {
        status = write_record(engine, task, keel_bytes(options, size));
        keel_free(options);
    }
    if (!status && task->limits) status = keel_handed_limit(engine->cache_dir, KEEL_HANDED_MOST);
    if (!status) return;
    keel_log_once("handed",
                  "what was serialized is not known to other processes: %s; to them it is loaded "
                  "from elsewhere",
                  keel_status_message(status));
    keel_journal_store_error(engine->journal, "handed", NULL, keel_status_message(status));
    keel_status_ignore(status);
}

static void destroy_task(task_t *head) {
    keel_free(head);
}

static keel_status_t write_later(keel_engine_t *engine, const keel_digest_t *bytes,
                                 const made_of_t *made_of, size_t number) {
    void *memory;
    KEEL_TRY(keel_alloc(sizeof(handed_task_t), &memory));
    handed_task_t *task = memory;
    *task = (handed_task_t){{NULL, run_task, destroy_task, NULL, 0},
                            *bytes,
                            *made_of,
                            .limits = number % LIMIT_EVERY == 1};
    keel_status_t status = background_add(engine, &task->task);
    if (status) keel_free(task);
    return status;
}

// ---- noting and finding ------------------------------------------------------------------------

static keel_status_t note(handed_t *handed, const keel_digest_t *bytes, const made_of_t *made_of,
                          bool *out_is_new) {
    *out_is_new = !keel_map_find(&handed->known, bytes_of(bytes));
    if (*out_is_new && handed->count == MOST) *out_is_new = false;
    if (!*out_is_new) return NULL;
    void *grown = handed->list;
    KEEL_TRY(keel_grow_array(handed->count, sizeof *handed->list, &handed->capacity, &grown));
    handed->list = grown;
    handed->list[handed->count] = *made_of;
    KEEL_TRY(keel_map_put(&handed->known, bytes_of(bytes), handed->count));
    ++handed->count;
    return NULL;
}

void keel_engine_serialized(keel_engine_t *engine, const PJRT_Executable *executable,
                            keel_bytes_t bytes) {
    made_of_t made_of;
    bool is_new = false, is_over = atomic_load(&engine->ended) || getpid() != engine->pid;
    // Without a journal, no program is kept.
    if (is_over || !engine->journal || !bytes.size) return;
    if (!executables_made_of(engine, executable, &made_of) || !*made_of.format) return;
    keel_digest_t digest = keel_digest(bytes);
    pthread_mutex_lock(&engine->handed->lock);
    keel_status_t status = note(engine->handed, &digest, &made_of, &is_new);
    size_t number = engine->handed->count;
    pthread_mutex_unlock(&engine->handed->lock);
    if (!status && is_new && engine->stores)
        status = write_later(engine, &digest, &made_of, number);
    if (status) engine_fell_through(engine, "handed", NULL, status);
}

static bool find_here(keel_engine_t *engine, const keel_digest_t *bytes, made_of_t *out) {
    handed_t *handed = engine->handed;
    pthread_mutex_lock(&handed->lock);
    const uint64_t *at = keel_map_find(&handed->known, bytes_of(bytes));
    if (at) *out = handed->list[*at];
    pthread_mutex_unlock(&handed->lock);
    return at;
}

static keel_status_t read_here(keel_engine_t *engine, const made_of_t *made_of,
                               handed_program_t *out) {
    keel_status_t status = read_both(engine, made_of, out);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status); // it may be on its way
    background_wait(engine, keel_clock_monotonic() + PATIENCE * 1000000000ull);
    return read_both(engine, made_of, out);
}

static keel_status_t take_record(const keel_handed_t *record, handed_program_t *out) {
    if (record->format.size >= sizeof out->format)
        return keel_status_make(KEEL_CORRUPT, "a record of a program names no format");
    *out = (handed_program_t){.options_size = record->options.size};
    memcpy(out->format, record->format.data, record->format.size);
    KEEL_TRY(keel_bytes_dup(record->options, &out->options));
    keel_status_t status = keel_journal_unpack_program(record->packed, &out->code, &out->code_size);
    if (status) handed_program_release(out);
    return status;
}

static keel_status_t read_record(const keel_engine_t *engine, const keel_digest_t *bytes,
                                 handed_program_t *out) {
    keel_handed_t record;
    if (!*engine->cache_dir) return keel_status_make(KEEL_NOT_FOUND, "no cache folder is used");
    KEEL_TRY(keel_handed_read(engine->cache_dir, bytes, engine->settings.shared_cache, &record));
    keel_status_t status = take_record(&record, out);
    keel_handed_release(&record);
    return status;
}

bool handed_find(keel_engine_t *engine, const keel_digest_t *bytes, handed_program_t *out) {
    made_of_t made_of;
    bool is_here = find_here(engine, bytes, &made_of);
    keel_status_t status =
        is_here ? read_here(engine, &made_of, out) : read_record(engine, bytes, out);
    if (!status) return true;
    if (is_here || keel_status_code(status) != KEEL_NOT_FOUND)
        keel_journal_store_error(engine->journal, "handed", NULL, keel_status_message(status));
    keel_status_ignore(status);
    return false;
}

void handed_program_release(handed_program_t *program) {
    keel_free(program->code);
    keel_free(program->options);
    *program = (handed_program_t){.format = ""};
}
