#define _GNU_SOURCE
#include "enforce/ranks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "compiler/compiler.h"
#include "contract/contract.h"

enum {
    LINE_MOST = 1024,      // bytes of a file
    RANKS_MOST = 4096,     // processes
    TELL_AFTER = 10,       // seconds of waiting
    GIVE_UP_AFTER = 600,   // likewise
    COME_WITHIN = 30,      // for the others' first program
    COMPARE_WITHIN = 4,    // for what differs
    SETTLED_AFTER = 300,   // milliseconds in which another thread would ask
    DIFFERENCES_SHOWN = 6, // lines
};

static const char off[] = "off"; // a file: some process does not compare any more

struct ranks_t {
    char *folder; // ranks/ of the run
    char *run_dir;
    pthread_mutex_t lock; // held while a program is compared
    atomic_bool is_off;
    uint64_t count;   // programs so far
    pthread_t thread; // that asked for the first one
};

// A process's n-th program.
typedef struct rank_ask_t {
    bool is_there;
    char fingerprint[KEEL_FINGERPRINT_HEX], options[KEEL_FINGERPRINT_HEX];
    char program[KEEL_DIGEST_HEX];
    char name[LINE_MOST];
} rank_ask_t;

static keel_status_t fill(ranks_t *ranks, char *folder) {
    KEEL_TRY(keel_path(&ranks->folder, "%s/ranks", folder));
    *strrchr(folder, '/') = 0;
    ranks->run_dir = folder;
    return NULL;
}

keel_status_t ranks_create(char *folder, ranks_t **out) {
    void *memory = NULL;
    keel_status_t status = keel_calloc(1, sizeof(ranks_t), &memory);
    if (!status) status = fill(memory, folder);
    if (status) {
        keel_free(folder);
        keel_free(memory);
        return status;
    }
    *out = memory;
    pthread_mutex_init(&(*out)->lock, NULL);
    return NULL;
}

// ---- files -------------------------------------------------------------------------------------

static void pause_briefly(void) {
    const struct timespec time = {.tv_nsec = 3000000};
    nanosleep(&time, NULL);
}

static bool read_line(const char *path, char out[LINE_MOST]) {
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_file_read(path, LINE_MOST - 1, &data, &size);
    keel_status_ignore(status);
    if (status) return false;
    memcpy(out, data, size);
    out[size] = 0;
    keel_free(data);
    return true;
}

static keel_status_t put_line(const ranks_t *ranks, const char *name, const char *text) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", ranks->folder, name));
    keel_status_t status = keel_file_replace(path, keel_str_bytes(keel_str(text)));
    keel_free(path);
    return status;
}

static bool get_line(const ranks_t *ranks, const char *name, char out[LINE_MOST]) {
    char *path;
    keel_status_t status = keel_path(&path, "%s/%s", ranks->folder, name);
    keel_status_ignore(status);
    if (status) return false;
    bool found = read_line(path, out);
    keel_free(path);
    return found;
}

// The others do not wait for this process any more.
static void turn_off(ranks_t *ranks, const char *why) {
    if (atomic_exchange(&ranks->is_off, true)) return;
    keel_log("the programs of the processes are not compared: %s", why);
    keel_status_t status = keel_directory_make(ranks->folder);
    if (!status) status = put_line(ranks, off, why);
    keel_status_ignore(status); // then they wait until they give up
}

static void fingerprint_text(const keel_fingerprint_t *fingerprint,
                             char out[KEEL_FINGERPRINT_HEX]) {
    for (int i = 0; i < KEEL_FINGERPRINT_SIZE; ++i)
        snprintf(out + 2 * i, 3, "%02x", fingerprint->bytes[i]);
}

static keel_status_t publish(const ranks_t *ranks, const keel_engine_ask_t *ask) {
    char name[64], text[LINE_MOST], program[KEEL_DIGEST_HEX];
    char fingerprint[KEEL_FINGERPRINT_HEX], options[KEEL_FINGERPRINT_HEX];
    keel_fingerprint_t of_program = keel_fingerprint_of_program(ask->key),
                       of_options = keel_fingerprint_of_options(ask->key);
    fingerprint_text(&of_program, fingerprint);
    fingerprint_text(&of_options, options);
    keel_digest_hex(ask->program, program);
    if (ranks->count == 1) {
        KEEL_TRY(keel_directory_make(ranks->folder));
        snprintf(name, sizeof name, "%u", ask->process);
        char own[KEEL_PROCESS_NAME];
        keel_process_name(own);
        KEEL_TRY(put_line(ranks, name, own));
    }
    snprintf(name, sizeof name, "%u-%llu", ask->process, (unsigned long long)ranks->count);
    snprintf(text, sizeof text, "%s %s %s %.512s", fingerprint, options, program, ask->name);
    return put_line(ranks, name, text);
}

static bool get_ask(const ranks_t *ranks, uint32_t process, rank_ask_t *out) {
    char name[64], line[LINE_MOST];
    snprintf(name, sizeof name, "%u-%llu", process, (unsigned long long)ranks->count);
    out->is_there =
        get_line(ranks, name, line) && sscanf(line, "%32s %32s %64s %1023s", out->fingerprint,
                                              out->options, out->program, out->name) >= 3;
    return out->is_there;
}

// Whether the process will never ask again.
static bool is_gone(const ranks_t *ranks, uint32_t process) {
    char name[64], line[LINE_MOST];
    snprintf(name, sizeof name, "%u", process);
    return get_line(ranks, name, line) && keel_process_state(keel_str(line)) == KEEL_PROCESS_GONE;
}

static bool has_come(const ranks_t *ranks, uint32_t process) {
    char name[64], line[LINE_MOST];
    snprintf(name, sizeof name, "%u", process);
    return get_line(ranks, name, line);
}

// ---- agreement ---------------------------------------------------------------------------------

static bool is_same(const rank_ask_t *a, const rank_ask_t *b) {
    return strcmp(a->fingerprint, b->fingerprint) == 0 && strcmp(a->options, b->options) == 0;
}

static uint32_t alike(const rank_ask_t *asks, uint32_t count, uint32_t which) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += asks[i].is_there && is_same(&asks[i], &asks[which]);
    return sum;
}

// The program that most processes ask for; of two, that of the lowest process.
static uint32_t find_usual(const rank_ask_t *asks, uint32_t count) {
    uint32_t best = 0, most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t others = asks[i].is_there ? alike(asks, count, i) : 0;
        if (others <= most) continue;
        most = others;
        best = i;
    }
    return best;
}

// "process 3", "processes 0, 1 and 2": those whose program is that one's.
static void list(const rank_ask_t *asks, uint32_t count, uint32_t which, keel_buffer_t *out) {
    uint32_t sum = alike(asks, count, which), told = 0;
    keel_buffer_text(out, sum == 1 ? "process " : "processes ");
    for (uint32_t i = 0; i < count; ++i) {
        if (!asks[i].is_there || !is_same(&asks[i], &asks[which])) continue;
        keel_buffer_text(out, !told ? "" : told + 1 == sum ? " and " : ", ");
        keel_buffer_format(out, "%u", i);
        ++told;
    }
}

// What `keel diff` says: its first lines, once both programs are in the run's folder.
static void differences(const ranks_t *ranks, keel_engine_t *engine, const rank_ask_t *usual,
                        const rank_ask_t *other, keel_buffer_t *out) {
    uint64_t until = keel_clock_monotonic() + COMPARE_WITHIN * 1000000000ull;
    char *keel;
    if (strcmp(usual->program, other->program) == 0) {
        keel_buffer_text(out, "\n  the compile options or flags differ");
        return;
    }
    if (!keel_engine_keeps(engine, COMPARE_WITHIN * 1000000000ull)) return;
    keel_status_t status = keel_compiler_find_worker(NULL, &keel);
    keel_status_ignore(status);
    if (status) return;
    static char diff[] = "diff", in[] = "--run-dir";
    char *argv[] = {keel,
                    diff,
                    in,
                    ranks->run_dir,
                    (char *)(uintptr_t)usual->program,
                    (char *)(uintptr_t)other->program,
                    NULL};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 16);
    int code = -1;
    while ((code = keel_answer(argv, until, &text)) != 1 && keel_clock_monotonic() < until) {
        text.size = 0;
        pause_briefly();
    }
    const char *line = code == 1 && !text.failed ? keel_buffer_cstr(&text) : "";
    for (int shown = 0; shown < DIFFERENCES_SHOWN && *line;) {
        size_t length = strcspn(line, "\n");
        bool is_path = strncmp(line, "A: ", 3) == 0 || strncmp(line, "B: ", 3) == 0;
        if (length && !is_path) keel_buffer_format(out, "\n  %.*s", (int)length, line);
        shown += length && !is_path;
        line += length + (line[length] == '\n');
    }
    keel_buffer_deinitialize(&text);
    keel_free(keel);
}

static keel_status_t disagree(const ranks_t *ranks, keel_engine_t *engine, const rank_ask_t *asks,
                              uint32_t count) {
    uint32_t usual = find_usual(asks, count), other = 0;
    while (other < count && (!asks[other].is_there || is_same(&asks[other], &asks[usual])))
        ++other;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 14);
    list(asks, count, other, &text);
    keel_buffer_format(&text, alike(asks, count, other) == 1 ? " asks" : " ask");
    keel_buffer_format(&text, " for another %s than ", asks[usual].name);
    list(asks, count, usual, &text);
    keel_buffer_text(&text, "; executed together, they would wait for each other forever");
    differences(ranks, engine, &asks[usual], &asks[other], &text);
    keel_status_t status =
        text.failed ? keel_status_make(KEEL_REFUSED, "the processes ask for different programs")
                    : keel_status_make(KEEL_REFUSED, "%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

typedef enum meeting_end_t { ALL_CAME, NOT_ALL, WAITING } meeting_end_t;

// Looks once at those who are missing.
static meeting_end_t look(ranks_t *ranks, rank_ask_t *asks, const keel_engine_ask_t *ask,
                          uint64_t waited, uint32_t *out_missing) {
    meeting_end_t end = ALL_CAME;
    for (uint32_t i = 0; i < ask->process_count; ++i) {
        if (asks[i].is_there || get_ask(ranks, i, &asks[i])) continue;
        *out_missing = i;
        end = WAITING;
        if (is_gone(ranks, i) || (waited >= COME_WITHIN && !has_come(ranks, i))) return NOT_ALL;
    }
    return end;
}

// Two threads that ask at about the same time may have asked in another order here than elsewhere:
// then the second one is about to say so.
static bool is_off_soon(ranks_t *ranks) {
    uint64_t until = keel_clock_monotonic() + SETTLED_AFTER * 1000000ull;
    char reason[LINE_MOST];
    while (!atomic_load(&ranks->is_off) && keel_clock_monotonic() < until) {
        if (get_line(ranks, off, reason)) turn_off(ranks, reason);
        pause_briefly();
    }
    return atomic_load(&ranks->is_off);
}

static keel_status_t meet(ranks_t *ranks, keel_engine_t *engine, const keel_engine_ask_t *ask,
                          rank_ask_t *asks) {
    uint64_t began = keel_clock_monotonic();
    bool has_told = false;
    for (;;) {
        uint32_t missing = 0;
        uint64_t waited = (keel_clock_monotonic() - began) / 1000000000ull;
        meeting_end_t end = look(ranks, asks, ask, waited, &missing);
        if (end == ALL_CAME) break;
        char reason[LINE_MOST];
        if (get_line(ranks, off, reason)) {
            turn_off(ranks, reason);
            return NULL;
        }
        if (end == NOT_ALL || waited >= GIVE_UP_AFTER) {
            char why[128];
            snprintf(why, sizeof why, "process %u has ended, or writes to another run", missing);
            turn_off(ranks, why);
            return NULL;
        }
        if (waited >= TELL_AFTER && !has_told)
            keel_log("process %u waits for process %u, which has not asked for %s yet",
                     ask->process, missing, ask->name);
        has_told = has_told || waited >= TELL_AFTER;
        pause_briefly();
    }
    if (alike(asks, ask->process_count, 0) == ask->process_count) return NULL;
    return is_off_soon(ranks) ? NULL : disagree(ranks, engine, asks, ask->process_count);
}

keel_status_t ranks_check(ranks_t *ranks, keel_engine_t *engine, const keel_engine_ask_t *ask) {
    if (!ask->is_shared || atomic_load(&ranks->is_off)) return NULL;
    static const char why[] = "several threads of a process ask for programs";
    if (ask->process_count > RANKS_MOST || pthread_mutex_trylock(&ranks->lock)) {
        turn_off(ranks, why);
        return NULL;
    }
    if (!ranks->count) ranks->thread = pthread_self();
    if (!pthread_equal(ranks->thread, pthread_self())) {
        turn_off(ranks, why);
        pthread_mutex_unlock(&ranks->lock);
        return NULL;
    }
    void *memory = NULL;
    ++ranks->count;
    keel_status_t status = publish(ranks, ask);
    if (!status) status = keel_calloc(ask->process_count, sizeof(rank_ask_t), &memory);
    if (status) {
        turn_off(ranks, keel_status_message(status));
        keel_status_ignore(status);
        pthread_mutex_unlock(&ranks->lock);
        return NULL;
    }
    status = meet(ranks, engine, ask, memory);
    keel_free(memory);
    pthread_mutex_unlock(&ranks->lock);
    return status;
}
