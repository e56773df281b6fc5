#include <pthread.h>
#include <stdatomic.h>

#include "history/internal.h"

struct keel_history_t {
    // Changing the table or the file needs `writing`, and `lock` for the table; lookups take only
    // `lock`, and so never wait for a disk.
    pthread_mutex_t writing, lock;
    table_t table;
    char *folder, *path; // NULL: there is no file
    char *run;
    double began;
    atomic_bool is_read;
    uint64_t inode, size; // of the file when last seen; 0: none
};

static keel_status_t set_paths(const char *folder, const char *script, keel_history_t *history) {
    if (!folder) return NULL;
    if (!*script || strchr(script, '/'))
        return keel_status_make(KEEL_INVALID, "%s: not a script's name in the history", script);
    KEEL_TRY(keel_strdup(keel_str(folder), &history->folder));
    return keel_path(&history->path, "%s/%s.ndjson", folder, script);
}

keel_status_t keel_history_open(const char *folder, const char *script, const char *run,
                                double began, keel_history_t **out) {
    void *memory;
    *out = NULL;
    KEEL_TRY(keel_calloc(1, sizeof(keel_history_t), &memory));
    keel_history_t *history = memory;
    history->began = began;
    pthread_mutex_init(&history->writing, NULL);
    pthread_mutex_init(&history->lock, NULL);
    keel_status_t status = keel_strdup(keel_str(run ? run : ""), &history->run);
    if (!status) status = set_paths(folder, script, history);
    if (status) {
        keel_history_close(history);
        return status;
    }
    *out = history;
    return NULL;
}

void keel_history_close(keel_history_t *history) {
    if (!history) return;
    table_clear(&history->table);
    pthread_mutex_destroy(&history->writing);
    pthread_mutex_destroy(&history->lock);
    keel_free(history->folder);
    keel_free(history->path);
    keel_free(history->run);
    keel_free(history);
}

// ---- reading -----------------------------------------------------------------------------------

static keel_status_t read_into(keel_history_t *history, table_t *table) {
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    uint64_t damaged = 0;
    KEEL_TRY(keel_file_read_with_facts(history->path, READ_LIMIT, &data, &size, &facts));
    history->inode = facts.inode;
    history->size = size;
    keel_status_t status = file_parse(data, size, table, &damaged);
    keel_free(data);
    return status;
}

// Nothing was added before, so what is read is the whole table.
static void read_once(keel_history_t *history) {
    if (!history->path || atomic_load(&history->is_read)) return;
    pthread_mutex_lock(&history->writing);
    if (!atomic_load(&history->is_read)) {
        // The kernel reports when a process began in hundredths of a second. Rounded up: whatever
        // ended just before belongs to an earlier run.
        const double tick = 0.01;
        double since = history->began > 0 ? history->began + tick : 0;
        table_t table = {.run = history->run, .since = since};
        keel_status_ignore(read_into(history, &table));
        pthread_mutex_lock(&history->lock);
        history->table = table;
        pthread_mutex_unlock(&history->lock);
        atomic_store(&history->is_read, true);
    }
    pthread_mutex_unlock(&history->writing);
}

// ---- writing -----------------------------------------------------------------------------------

// Another process may have replaced the file with a shorter one.
static keel_status_t look_at_file(keel_history_t *history) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(history->path, &facts);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        table_forget_file(&history->table);
        history->inode = history->size = 0;
        return keel_directory_make(history->folder);
    }
    KEEL_TRY(status);
    if (facts.inode != history->inode || facts.size < history->size)
        table_forget_file(&history->table);
    history->inode = facts.inode;
    history->size = facts.size;
    return NULL;
}

// A file that this process just made is its own.
static void learn_inode(keel_history_t *history) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(history->path, &facts);
    if (!status) history->inode = facts.inode;
    keel_status_ignore(status);
}

// What the file contains now, since other processes write to it too; if it cannot be read, what
// this process knows.
static keel_status_t rewrite_from(keel_history_t *history, table_t *read) {
    keel_status_t status = read_into(history, read);
    table_t *from = status ? &history->table : read;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    keel_buffer_t lines;
    status = file_put_newest(from, &lines);
    if (!status) status = keel_file_replace(history->path, keel_buffer_bytes(&lines));
    history->size = lines.size;
    if (!status && from != &history->table) table_take_file(&history->table, from);
    if (!status) learn_inode(history);
    keel_buffer_deinitialize(&lines);
    return status;
}

static keel_status_t rewrite(keel_history_t *history) {
    table_t read = {0};
    keel_status_t status = rewrite_from(history, &read);
    table_clear(&read);
    return status;
}

static keel_status_t append(keel_history_t *history, keel_bytes_t lines) {
    KEEL_TRY(keel_file_append(history->path, lines));
    history->size += lines.size;
    if (!history->inode) learn_inode(history);
    return history->size > KEEL_HISTORY_FILE_LIMIT ? rewrite(history) : NULL;
}

static void put_new(keel_history_t *history, keel_buffer_t *lines) {
    for (record_t *record = history->table.oldest; record; record = record->newer) {
        if (!record->is_ours || record->is_told) continue;
        if (record->in_file)
            file_put_seen(record, lines);
        else
            file_put_record(record, lines);
        record->in_file = record->is_told = true;
    }
}

static keel_status_t keep_record(keel_history_t *history) {
    keel_buffer_t lines;
    keel_buffer_initialize(&lines, 0);
    keel_status_t status = look_at_file(history);
    if (!status) {
        pthread_mutex_lock(&history->lock);
        put_new(history, &lines);
        pthread_mutex_unlock(&history->lock);
        status = keel_buffer_status(&lines);
    }
    if (!status && lines.size) status = append(history, keel_buffer_bytes(&lines));
    if (status) table_forget_file(&history->table);
    keel_buffer_deinitialize(&lines);
    return status;
}

keel_status_t keel_history_keep(keel_history_t *history) {
    if (!history->path) return NULL;
    pthread_mutex_lock(&history->writing);
    keel_status_t status = keep_record(history);
    pthread_mutex_unlock(&history->writing);
    return status;
}

keel_status_t keel_history_add(keel_history_t *history, const keel_history_record_t *from) {
    record_t *record;
    keel_history_record_t own = *from;
    own.is_ours = true;
    own.run = from->run ? from->run : history->run;
    read_once(history);
    pthread_mutex_lock(&history->lock);
    keel_status_t status = table_add_key(&history->table, &own, &record);
    pthread_mutex_unlock(&history->lock);
    return status;
}

void keel_history_compiled(keel_history_t *history, const keel_digest_t *program,
                           const keel_digest_t *key, double seconds) {
    pthread_mutex_lock(&history->lock);
    record_t *record = table_find(&history->table, record_id(program, key));
    if (record && record->is_ours) record->seconds = seconds;
    pthread_mutex_unlock(&history->lock);
}

// ---- looking up --------------------------------------------------------------------------------

static keel_status_t copy_text(keel_arena_t *arena, const char **text) {
    keel_str_t copy;
    KEEL_TRY(keel_arena_str(arena, keel_str(*text ? *text : ""), &copy));
    *text = copy.data;
    return NULL;
}

static keel_status_t copy_record(const record_t *record, keel_arena_t *arena,
                                 keel_history_record_t *out) {
    void *memory;
    KEEL_TRY(keel_arena_alloc(arena, sizeof(keel_key_t), &memory));
    keel_key_t *key = memory;
    keel_history_record_t shown;
    record_show(record, key, &shown);
    KEEL_TRY(copy_text(arena, &shown.name));
    KEEL_TRY(copy_text(arena, &shown.origin));
    KEEL_TRY(copy_text(arena, &shown.run));
    KEEL_TRY(copy_text(arena, &shown.target));
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const char *value = key->values[i];
        KEEL_TRY(copy_text(arena, &value));
        key->values[i] = (char *)(uintptr_t)value;
    }
    *out = shown;
    return NULL;
}

size_t keel_history_candidates(keel_history_t *history, const keel_history_query_t *query,
                               keel_arena_t *arena, keel_history_record_t *out) {
    const record_t *records[KEEL_HISTORY_CANDIDATES];
    size_t copied = 0;
    keel_status_t status = NULL;
    read_once(history);
    pthread_mutex_lock(&history->lock);
    size_t count = nearest_records(&history->table, query, records);
    while (copied < count && !(status = copy_record(records[copied], arena, &out[copied])))
        ++copied;
    pthread_mutex_unlock(&history->lock);
    keel_status_ignore(status);
    return copied;
}

bool keel_history_nearest(keel_history_t *history, const keel_history_query_t *query,
                          keel_arena_t *arena, keel_history_record_t *out) {
    keel_history_record_t candidates[KEEL_HISTORY_CANDIDATES];
    size_t count = keel_history_candidates(history, query, arena, candidates);
    if (count) *out = candidates[0];
    return count > 0;
}

bool keel_history_sketch(keel_history_t *history, const keel_digest_t *program,
                         const keel_digest_t *key, keel_sketch_t *out) {
    read_once(history);
    pthread_mutex_lock(&history->lock);
    const record_t *record = table_find(&history->table, record_id(program, key));
    if (record) *out = record->sketch;
    pthread_mutex_unlock(&history->lock);
    return record != NULL;
}

// ---- from bytes --------------------------------------------------------------------------------

static keel_status_t visit_all(const table_t *table,
                               keel_status_t (*visit)(void *context,
                                                      const keel_history_record_t *record),
                               void *context) {
    for (const record_t *record = table->oldest; record; record = record->newer) {
        keel_key_t key;
        keel_history_record_t shown;
        record_show(record, &key, &shown);
        KEEL_TRY(visit(context, &shown));
    }
    return NULL;
}

keel_status_t keel_history_parse(keel_bytes_t bytes,
                                 keel_status_t (*visit)(void *context,
                                                        const keel_history_record_t *record),
                                 void *context, uint64_t *out_damaged) {
    uint8_t *copy;
    table_t table = {0};
    *out_damaged = 0;
    KEEL_TRY(keel_bytes_dup(bytes, &copy));
    keel_status_t status = file_parse(copy, bytes.size, &table, out_damaged);
    if (!status) status = visit_all(&table, visit, context);
    table_clear(&table);
    keel_free(copy);
    return status;
}
