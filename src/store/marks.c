#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/layout.h"
#include "store/plan.h"

// A mark's file is one line, padded with blanks to a fixed size: the hex digits of the key that is
// being loaded, "plan:" and the script whose plan is being loaded, or a dash while the file waits
// for reuse. So a load costs two small writes, and no file is made or removed, which takes up to a
// millisecond on an ext4 file system where many files were removed lately. Any other content
// accuses no entry; a maker that was killed before it wrote the line leaves such a file.
enum { TEXT_SIZE = 128, IDLE_MARKS = 8 };
static const char ahead[] = "plan:";

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static keel_mark_t idle[IDLE_MARKS];

KEEL_FORK_GUARD(idle_lock);

// In a forked child the file stays, because the lock belongs to the parent.
static void remove_mark(keel_mark_t *mark) {
    keel_lock_remove(&mark->lock, mark->path);
    keel_free(mark->path);
    *mark = (keel_mark_t){.lock = KEEL_NO_LOCK};
}

// When a process ends without a crash, nobody needs its idle marks. Threads may still run then, and
// if a signal ended one in here, it holds the lock: the marks that stay accuse no entry.
__attribute__((destructor)) static void remove_idle(void) {
    keel_mark_t taken[IDLE_MARKS];
    if (pthread_mutex_trylock(&idle_lock)) return;
    for (int i = 0; i < IDLE_MARKS; ++i) {
        taken[i] = idle[i];
        idle[i].path = NULL;
    }
    pthread_mutex_unlock(&idle_lock);
    for (int i = 0; i < IDLE_MARKS; ++i)
        if (taken[i].path) remove_mark(&taken[i]);
}

static bool is_in(const char *path, const char *folder) {
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && strncmp(path + size, "/marks/", 7) == 0;
}

static bool take_idle(const char *folder, keel_mark_t *out) {
    bool found = false;
    pthread_mutex_lock(&idle_lock);
    for (int i = 0; i < IDLE_MARKS && !found; ++i) {
        if (!idle[i].path) continue;
        if (!keel_lock_is_ours(&idle[i].lock)) { // a forked child has its parent's
            keel_free(idle[i].path);
            idle[i].path = NULL;
        } else if (is_in(idle[i].path, folder)) {
            *out = idle[i];
            idle[i].path = NULL;
            found = true;
        }
    }
    pthread_mutex_unlock(&idle_lock);
    return found;
}

static bool keep_idle(keel_mark_t *mark) {
    bool kept = false;
    pthread_mutex_lock(&idle_lock);
    for (int i = 0; i < IDLE_MARKS && !kept; ++i) {
        if (idle[i].path) continue;
        idle[i] = *mark;
        kept = true;
    }
    pthread_mutex_unlock(&idle_lock);
    return kept;
}

// ---- mark and unmark ---------------------------------------------------------------------------

static keel_status_t write_text(keel_mark_t *mark, const char *text) {
    char line[TEXT_SIZE + 1];
    int size = snprintf(line, sizeof line, "%-*s\n", TEXT_SIZE - 1, text);
    if (size != TEXT_SIZE) return keel_status_make(KEEL_INVALID, "%s is too long for a mark", text);
    return keel_lock_describe(&mark->lock, keel_bytes(line, TEXT_SIZE));
}

static keel_status_t try_mark(const char *folder, keel_mark_t *out) {
    static atomic_uint counter;
    keel_mark_t mark = {.lock = KEEL_NO_LOCK};
    KEEL_TRY(keel_path(&mark.path, "%s/marks/%d.%llu.%u.mark", folder, (int)getpid(),
                       (unsigned long long)keel_clock_wall(), atomic_fetch_add(&counter, 1)));
    keel_status_t status = keel_store_take_lock(mark.path, &mark.lock);
    if (status) {
        keel_free(mark.path);
        return status;
    }
    *out = mark;
    return NULL;
}

// A sweep may lock a file that was just made before its maker does, and then removes it.
static keel_status_t make_mark(const char *folder, keel_mark_t *out) {
    enum { TRIES = 8 };
    keel_status_t status = try_mark(folder, out);
    for (int i = 1; i < TRIES && keel_status_code(status) == KEEL_REFUSED; ++i) {
        keel_status_ignore(status);
        status = try_mark(folder, out);
    }
    return status;
}

static keel_status_t mark_with(const char *folder, const char *text, keel_mark_t *out) {
    keel_mark_t mark;
    keel_status_t status;
    if (take_idle(folder, &mark)) {
        status = write_text(&mark, text);
        if (!status) {
            *out = mark;
            return NULL;
        }
        // Usually because someone removed the folder.
        keel_status_ignore(status);
        remove_mark(&mark);
    }
    KEEL_TRY(make_mark(folder, &mark));
    status = write_text(&mark, text);
    if (status) {
        remove_mark(&mark);
        return status;
    }
    *out = mark;
    return NULL;
}

keel_status_t keel_store_mark(const char *folder, const keel_digest_t *key, keel_mark_t *out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    return mark_with(folder, hex, out);
}

keel_status_t keel_store_mark_ahead(const char *folder, const char *script, keel_mark_t *out) {
    char *text;
    KEEL_TRY(keel_path(&text, "%s%s", ahead, script));
    keel_status_t status = mark_with(folder, text, out);
    keel_free(text);
    return status;
}

void keel_store_unmark(keel_mark_t *mark) {
    if (!mark->path) return;
    keel_status_t status = write_text(mark, "-");
    if (status || !keep_idle(mark)) remove_mark(mark);
    keel_status_ignore(status);
    *mark = (keel_mark_t){.lock = KEEL_NO_LOCK};
}

// ---- sweeping ----------------------------------------------------------------------------------

typedef struct sweep_t {
    const char *folder;
    const char *marks;
    void (*found)(void *context, const keel_digest_t *key);
    void *context;
    // Keys already found for the process whose marks are being visited; its marks are adjacent.
    long maker;
    keel_digest_t keys[16];
    size_t count;
} sweep_t;

// Counts a process's death once, however many of its threads were loading the key.
static bool is_accused(sweep_t *sweep, const char *name, const keel_digest_t *key) {
    long maker = strtol(name, NULL, 10);
    if (maker != sweep->maker) sweep->count = 0;
    sweep->maker = maker;
    for (size_t i = 0; i < sweep->count; ++i)
        if (keel_digest_equal(&sweep->keys[i], key)) return true;
    if (sweep->count < sizeof sweep->keys / sizeof *sweep->keys) sweep->keys[sweep->count++] = *key;
    return false;
}

static keel_status_t accuse(sweep_t *sweep, const char *name, const keel_digest_t *key) {
    if (is_accused(sweep, name, key)) return NULL;
    KEEL_TRY(keel_store_set_crashed(sweep->folder, key));
    if (sweep->found) sweep->found(sweep->context, key);
    return NULL;
}

static keel_status_t read_mark(sweep_t *sweep, const char *name, const char *path) {
    char text[TEXT_SIZE + 1];
    size_t size;
    keel_file_facts_t facts;
    keel_digest_t key;
    KEEL_TRY(keel_file_read_head(path, (uint8_t *)text, TEXT_SIZE, &size, &facts));
    text[size] = 0;
    text[strcspn(text, " \n")] = 0;
    const char *script = text + sizeof ahead - 1;
    if (keel_digest_unhex(keel_str(text), &key)) return accuse(sweep, name, &key);
    if (strncmp(text, ahead, sizeof ahead - 1) || strchr(script, '/')) return NULL;
    return keel_plan_remove(sweep->folder, script);
}

static bool is_mark(const char *name) {
    size_t size = strlen(name);
    return size > 5 && strcmp(name + size - 5, ".mark") == 0 &&
           strspn(name, "0123456789.") == size - 4;
}

// If setting aside fails, the mark stays for the next start.
static keel_status_t sweep_mark(void *context, const char *name) {
    sweep_t *sweep = context;
    if (!is_mark(name)) return NULL;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", sweep->marks, name));
    keel_lock_t lock = KEEL_NO_LOCK;
    keel_status_t status = keel_lock_take(path, &lock);
    if (keel_status_code(status) == KEEL_REFUSED) { // its maker is alive
        keel_status_ignore(status);
        status = NULL;
    } else if (!status) {
        status = read_mark(sweep, name, path);
        if (status)
            keel_lock_release(&lock);
        else
            keel_lock_remove(&lock, path);
    }
    keel_free(path);
    return status;
}

keel_status_t keel_store_sweep_marks(const char *folder,
                                     void (*found)(void *context, const keel_digest_t *key),
                                     void *context) {
    char *marks;
    KEEL_TRY(keel_path(&marks, "%s/marks", folder));
    sweep_t sweep = {.folder = folder, .marks = marks, .found = found, .context = context};
    keel_status_t status = keel_directory_walk(marks, sweep_mark, &sweep);
    keel_free(marks);
    return status;
}
