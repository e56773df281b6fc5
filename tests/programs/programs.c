// Takes every program of some folders through Keel: reads, keys, shows and explains each by itself,
// against the programs that are most like it, and against others at random.
//
//   programs [--pairs N] [--seed N] [--near N] [--may-fail] FOLDER...
//
//   --near N     programs that each is compared with, the likest first (2)
//   --pairs N    pairs at random beside these (1000)
//   --seed N     other pairs (1)
//   --may-fail   a program that cannot be read or keyed is reported, but is not a failure
//
// A child does the work and leaves in shared memory where it is. Where it dies or hangs, that is
// told, and the next child goes on behind it: so all that crashes is found in one run. Folders that
// are not there have no programs; without any program at all the exit code is 77, for "skipped".
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "each.h"

enum { SKIPPED = 77, DEADLINE = 120, MOST_SHOWN = 20 };

typedef struct options_t {
    uint64_t pairs, seed, near;
    bool may_fail;
} options_t;

// What a child finds out about a program.
typedef struct fact_t {
    bool is_read;  // and keyed
    char why[200]; // it cannot be read or keyed
    keel_sketch_t sketch;
} fact_t;

typedef struct pair_t {
    uint32_t before, after;
} pair_t;

typedef struct all_t {
    char **paths;
    size_t count, capacity;
    fact_t *facts; // shared with the children
    pair_t *pairs;
    size_t pair_count;
    uint64_t *at; // shared: what a child works on
    options_t options;
} all_t;

// ---- the programs ------------------------------------------------------------------------------

typedef struct walk_t {
    all_t *all;
    const char *folder;
} walk_t;

static keel_status_t add_folder(all_t *all, const char *folder);

static bool is_program(const char *name) {
    static const char *const ends[] = {".mlir", ".hlo", ".mlir.zst", ".hlo.zst"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
        size_t size = strlen(ends[i]);
        if (length > size && strcmp(name + length - size, ends[i]) == 0) return true;
    }
    return false;
}

static const char *base_of(const char *path) {
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

// Runs name a program by its digest, so one of that name is the same wherever it is.
static bool is_known(const all_t *all, const char *name) {
    if (strspn(name, "0123456789abcdef") != KEEL_DIGEST_HEX - 1) return false;
    for (size_t i = 0; i < all->count; ++i)
        if (strcmp(base_of(all->paths[i]), name) == 0) return true;
    return false;
}

static keel_status_t add_name(void *context, const char *name) {
    walk_t *walk = context;
    all_t *all = walk->all;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", walk->folder, name));
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    bool is_folder = !status && facts.is_directory, is_wanted = !status && is_program(name);
    keel_status_ignore(status);
    if (is_folder || !is_wanted || is_known(all, name)) {
        status = is_folder ? add_folder(all, path) : NULL;
        keel_free(path);
        return status;
    }
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 256;
        all->paths = realloc(all->paths, all->capacity * sizeof *all->paths);
        if (!all->paths) return keel_status_make(KEEL_NO_MEMORY, "%zu paths", all->capacity);
    }
    all->paths[all->count++] = path;
    return NULL;
}

static keel_status_t add_folder(all_t *all, const char *folder) {
    return keel_directory_walk(folder, add_name, &(walk_t){all, folder});
}

// ---- the pairs ---------------------------------------------------------------------------------

static uint64_t next_random(uint64_t *state) { // splitmix64
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// The programs that one is most like, the first of equals first.
static void add_near(all_t *all, uint32_t i) {
    enum { MOST = 16 };
    uint32_t best[MOST];
    double alike[MOST];
    size_t count = 0, most = all->options.near < MOST ? all->options.near : MOST;
    for (uint32_t j = 0; j < all->count && most; ++j) {
        if (j == i || !all->facts[j].is_read) continue;
        double like = keel_sketch_alike(&all->facts[i].sketch, &all->facts[j].sketch);
        size_t at = count;
        while (at > 0 && alike[at - 1] < like)
            --at;
        if (at == most) continue;
        if (count < most) ++count;
        memmove(best + at + 1, best + at, (count - 1 - at) * sizeof *best);
        memmove(alike + at + 1, alike + at, (count - 1 - at) * sizeof *alike);
        best[at] = j;
        alike[at] = like;
    }
    for (size_t k = 0; k < count; ++k)
        all->pairs[all->pair_count++] = (pair_t){best[k], i};
}

static void choose_pairs(all_t *all) {
    uint32_t *readable = calloc(all->count, sizeof *readable), count = 0;
    all->pairs = calloc(all->count * all->options.near + all->options.pairs, sizeof *all->pairs);
    if (!readable || !all->pairs) abort();
    for (uint32_t i = 0; i < all->count; ++i)
        if (all->facts[i].is_read) readable[count++] = i;
    for (uint32_t i = 0; i < count; ++i)
        add_near(all, readable[i]);
    uint64_t state = all->options.seed;
    for (uint64_t k = 0; k < all->options.pairs && count > 1; ++k) {
        uint32_t a = readable[next_random(&state) % count];
        uint32_t b = readable[next_random(&state) % count];
        all->pairs[all->pair_count++] = (pair_t){a, b};
    }
    free(readable);
}

// ---- the work ----------------------------------------------------------------------------------

static void work_one(all_t *all, uint64_t at) {
    fact_t *fact = &all->facts[at];
    loaded_t loaded;
    keel_status_t status = load(all->paths[at], &loaded);
    if (!status) {
        status = work_on(&loaded.program, &fact->sketch);
        fact->is_read = !status;
        unload(&loaded);
    }
    if (status) snprintf(fact->why, sizeof fact->why, "%s", keel_status_message(status));
    keel_status_ignore(status);
}

static void work_pair(all_t *all, uint64_t at) {
    loaded_t before, after;
    keel_status_t status = load(all->paths[all->pairs[at].before], &before);
    if (!status) {
        status = load(all->paths[all->pairs[at].after], &after);
        if (!status) {
            compare(&before.program, &after.program);
            unload(&after);
        }
        unload(&before);
    }
    if (status) abort(); // both were read before
}

typedef void work_t(all_t *all, uint64_t at);

static void tell(const all_t *all, uint64_t at, bool is_pair, int status) {
    char how[64];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(how, sizeof how, "takes more than %d s", DEADLINE);
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "dies of %s", strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "ends with exit code %d", WEXITSTATUS(status));
    const char *first = all->paths[is_pair ? all->pairs[at].before : at];
    fprintf(stderr, "programs: %s: %s%s%s\n", how, first, is_pair ? " and " : "",
            is_pair ? all->paths[all->pairs[at].after] : "");
}

// Does the work for 0 to `count`, in as many children as it takes. Returns how many died.
static size_t in_children(all_t *all, uint64_t count, work_t *work, bool is_pair) {
    size_t died = 0;
    *all->at = 0;
    while (*all->at < count) {
        pid_t child = fork();
        if (child < 0) abort();
        if (child == 0) {
            for (; *all->at < count; ++*all->at) {
                alarm(DEADLINE);
                work(all, *all->at);
            }
            alarm(0);
            exit(0); // a sanitizer looks for leaks
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        ++died;
        if (*all->at < count)
            tell(all, (*all->at)++, is_pair, status);
        else
            fprintf(stderr, "programs: the last child ends with exit code %d\n",
                    WEXITSTATUS(status));
    }
    return died;
}

static size_t unreadable(const all_t *all) {
    size_t count = 0;
    for (size_t i = 0; i < all->count; ++i)
        if (*all->facts[i].why && ++count <= MOST_SHOWN)
            fprintf(stderr, "programs: %s: %s\n", all->paths[i], all->facts[i].why);
    return count;
}

static void *shared(size_t size) {
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
    return memory;
}

static int run(all_t *all) {
    all->facts = shared(all->count * sizeof *all->facts);
    all->at = shared(sizeof *all->at);
    size_t died = in_children(all, all->count, work_one, false);
    size_t unread = unreadable(all);
    choose_pairs(all);
    died += in_children(all, all->pair_count, work_pair, true);
    printf("programs: %zu programs, %zu cannot be read or keyed; %zu pairs; %zu crashes\n",
           all->count, unread, all->pair_count, died);
    munmap(all->facts, all->count * sizeof *all->facts);
    munmap(all->at, sizeof *all->at);
    free(all->pairs);
    return died || (unread && !all->options.may_fail);
}

static int usage(void) {
    fprintf(stderr, "usage: programs [--pairs N] [--seed N] [--near N] [--may-fail] FOLDER...\n");
    return 2;
}

static bool take_option(options_t *options, char **arguments, int *at) {
    if (strcmp(arguments[*at], "--may-fail") == 0) {
        options->may_fail = true;
        return true;
    }
    const struct {
        const char *name;
        uint64_t *value;
    } numbers[] = {
        {"--pairs", &options->pairs}, {"--seed", &options->seed}, {"--near", &options->near}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        if (strcmp(arguments[*at], numbers[i].name) != 0) continue;
        const char *text = arguments[*at + 1];
        char *end;
        if (!text) return false;
        *numbers[i].value = strtoull(text, &end, 10);
        ++*at;
        return end != text && !*end;
    }
    return false;
}

int main(int count, char **arguments) {
    all_t all = {.options = {.pairs = 1000, .seed = 1, .near = 2}};
    int at = 1;
    for (; at < count && strncmp(arguments[at], "--", 2) == 0; ++at)
        if (!take_option(&all.options, arguments, &at)) return usage();
    if (at == count) return usage();
    keel_status_t status = NULL;
    for (; at < count && !status; ++at)
        status = add_folder(&all, arguments[at]);
    int code = 2;
    if (status)
        fprintf(stderr, "programs: %s\n", keel_status_message(status));
    else if (!all.count)
        printf("programs: there are none: the test that leaves them has to run first\n");
    else
        code = run(&all);
    keel_status_ignore(status);
    for (size_t i = 0; i < all.count; ++i)
        keel_free(all.paths[i]);
    free(all.paths);
    return all.count ? code : SKIPPED;
}
