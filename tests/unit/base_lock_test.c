// Locks on files, in forked children too, and what is known about another process.
#define _GNU_SOURCE
#include "place.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

static int set_up(void **state) {
    place_t *place = calloc(1, sizeof *place);
    place_make(place);
    *state = place;
    return 0;
}

static int tear_down(void **state) {
    place_remove(*state);
    free(*state);
    return 0;
}

#define BYTES(text) keel_str_bytes(keel_str(text))

typedef struct path_t {
    char text[400];
} path_t;

static path_t path_of(const place_t *place, const char *name) {
    path_t path;
    snprintf(path.text, sizeof path.text, "%s/%s", place->root, name);
    return path;
}

static void a_lock_is_held_by_one_and_free_when_released(void **state) {
    path_t path = path_of(*state, "lock");
    keel_lock_t lock, other = KEEL_NO_LOCK;
    assert_ok(keel_lock_take(path.text, &lock));
    assert_code(keel_lock_take(path.text, &other), KEEL_REFUSED);
    keel_lock_release(&lock);
    assert_true(exists(path.text));
    assert_ok(keel_lock_take(path.text, &lock));
    keel_lock_remove(&lock, path.text);
    assert_false(exists(path.text));
    keel_lock_remove(&lock, path.text);
    keel_lock_release(&lock);
    assert_false(keel_lock_is_ours(&lock));
}

static unsigned open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;
    while (folder && readdir(folder))
        ++count;
    if (folder) closedir(folder);
    return count;
}

static void locks_are_released_in_any_order(void **state) {
    path_t paths[4];
    keel_lock_t locks[4], other = KEEL_NO_LOCK;
    unsigned before = open_files();
    for (int i = 0; i < 4; ++i) {
        char name[8];
        snprintf(name, sizeof name, "lock%d", i);
        paths[i] = path_of(*state, name);
        assert_ok(keel_lock_take(paths[i].text, &locks[i]));
    }
    assert_int_equal(open_files(), before + 4);
    assert_code(keel_lock_take(paths[3].text, &other), KEEL_REFUSED);
    assert_int_equal(open_files(), before + 4); // a refused one stays not open
    static const int order[] = {1, 3, 0, 2};
    for (int i = 0; i < 4; ++i) {
        keel_lock_release(&locks[order[i]]);
        assert_int_equal(open_files(), before + 4 - 1 - (unsigned)i);
        assert_ok(keel_lock_take(paths[order[i]].text, &other));
        keel_lock_remove(&other, paths[order[i]].text);
        for (int k = i + 1; k < 4; ++k)
            assert_code(keel_lock_take(paths[order[k]].text, &other), KEEL_REFUSED);
    }
    assert_int_equal(open_files(), before);
}

// Its first file has number 0.
static void a_process_without_standard_input_locks(void **state) {
    path_t path = path_of(*state, "lock");
    pid_t child = fork();
    if (child == 0) {
        close(STDIN_FILENO);
        keel_lock_t lock, other;
        bool good = !keel_lock_take(path.text, &lock) && lock.descriptor == STDIN_FILENO &&
                    keel_lock_is_ours(&lock) && !keel_lock_describe(&lock, BYTES("me")) &&
                    keel_status_code(keel_lock_take(path.text, &other)) == KEEL_REFUSED;
        keel_lock_release(&lock);
        good = good && lock.descriptor < 0 && !keel_lock_take(path.text, &lock);
        _exit(good ? 0 : 1);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

static void a_locks_file_says_who_holds_it(void **state) {
    path_t path = path_of(*state, "lock");
    static const char *const texts[] = {"somebody with a long name", "nobody"};
    keel_lock_t lock;
    assert_ok(keel_lock_take(path.text, &lock));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        uint8_t *data;
        size_t size;
        assert_ok(keel_lock_describe(&lock, BYTES(texts[i])));
        assert_ok(keel_file_read(path.text, 1000, &data, &size));
        assert_int_equal(size, strlen(texts[i]));
        assert_memory_equal(data, texts[i], size);
        keel_free(data);
    }
    assert_int_equal(unlink(path.text), 0);
    assert_code(keel_lock_describe(&lock, BYTES("x")), KEEL_NOT_FOUND);
    keel_lock_t other;
    assert_ok(keel_lock_take(path.text, &other));
    keel_lock_release(&lock);
    keel_lock_remove(&other, path.text);
}

static void a_link_is_not_locked(void **state) {
    path_t target = path_of(*state, "target"), link = path_of(*state, "lock");
    assert_ok(keel_file_create(target.text, BYTES("kept")));
    assert_int_equal(symlink(target.text, link.text), 0);
    keel_lock_t lock = KEEL_NO_LOCK;
    assert_code(keel_lock_take(link.text, &lock), KEEL_IO);
    assert_int_equal(unlink(target.text), 0);
    assert_code(keel_lock_take(link.text, &lock), KEEL_IO);
    assert_false(exists(target.text));
}

typedef struct turns_t {
    const char *path;
    atomic_int inside, clashes;
} turns_t;

// Each turn removes the file, so that the others may lock what is gone and must try anew.
static void *take_turns(void *argument) {
    turns_t *turns = argument;
    for (int i = 0; i < 200;) {
        keel_lock_t lock;
        keel_status_t status = keel_lock_take(turns->path, &lock);
        if (keel_status_code(status) == KEEL_REFUSED) {
            keel_status_ignore(status);
            sched_yield();
            continue;
        }
        if (status || atomic_fetch_add(&turns->inside, 1)) atomic_fetch_add(&turns->clashes, 1);
        keel_status_ignore(status);
        atomic_fetch_sub(&turns->inside, 1);
        keel_lock_remove(&lock, turns->path);
        ++i;
    }
    return NULL;
}

static void threads_hold_a_lock_that_each_removes_one_by_one(void **state) {
    path_t path = path_of(*state, "lock");
    turns_t turns = {.path = path.text};
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &turns), 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    assert_int_equal(turns.clashes, 0);
    assert_false(exists(path.text));
}

// ---- forks -------------------------------------------------------------------------------------

static void wait_for_end(pid_t child) {
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

static void a_childs_end_leaves_the_lock_to_its_parent(void **state) {
    path_t path = path_of(*state, "lock");
    keel_lock_t lock, other;
    assert_ok(keel_lock_take(path.text, &lock));
    pid_t child = fork();
    if (child == 0) {
        bool good = !keel_lock_is_ours(&lock);
        keel_status_t status = keel_lock_describe(&lock, BYTES("the child"));
        good = good && keel_status_code(status) == KEEL_INVALID;
        // What has the lock's number now is another's and stays open.
        int reused = open("/dev/null", O_RDONLY);
        keel_lock_remove(&lock, path.text);
        good = good && fcntl(reused, F_GETFD) >= 0;
        _exit(good ? 0 : 1);
    }
    wait_for_end(child);
    assert_true(exists(path.text));
    assert_code(keel_lock_take(path.text, &other), KEEL_REFUSED);
    keel_lock_remove(&lock, path.text);
}

// The holder forks without exec, as workers of a data loader do, and is killed.
static void a_killed_holders_lock_is_free_although_its_child_lives(void **state) {
    path_t path = path_of(*state, "lock");
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t holder = fork();
    if (holder == 0) {
        keel_lock_t lock;
        if (keel_lock_take(path.text, &lock)) _exit(1);
        pid_t worker = fork() ? 0 : getpid(); // what is closed in it is closed before it says so
        if (worker && write(ready[1], &worker, sizeof worker) != sizeof worker) _exit(1);
        alarm(60);
        for (;;)
            pause();
    }
    pid_t worker;
    assert_int_equal(read(ready[0], &worker, sizeof worker), sizeof worker);
    keel_lock_t lock;
    assert_code(keel_lock_take(path.text, &lock), KEEL_REFUSED);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    assert_int_equal(kill(worker, 0), 0);
    assert_ok(keel_lock_take(path.text, &lock));
    kill(worker, SIGKILL);
    keel_lock_remove(&lock, path.text);
    close(ready[0]);
    close(ready[1]);
}

static atomic_bool enough;

static void *say_again_and_again(void *unused) {
    (void)unused;
    while (!enough)
        keel_log_once("fork", "said once");
    return NULL;
}

static void a_forked_child_finds_the_log_free(void **state) {
    (void)state;
    pthread_t thread;
    enough = false;
    assert_int_equal(pthread_create(&thread, NULL, say_again_and_again, NULL), 0);
    for (int i = 0; i < 300; ++i) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            keel_log_once("fork", "said once");
            _exit(0);
        }
        wait_for_end(child);
    }
    enough = true;
    pthread_join(thread, NULL);
}

// ---- processes ---------------------------------------------------------------------------------

static keel_process_state_t state_of(const char *name) {
    return keel_process_state(keel_str(name));
}

static void a_process_is_seen_to_run_to_stop_and_to_end(void **state) {
    (void)state;
    int named[2];
    char name[KEEL_PROCESS_NAME];
    keel_process_name(name);
    assert_int_equal(state_of(name), KEEL_PROCESS_RUNS);
    assert_int_equal(pipe(named), 0);
    pid_t child = fork();
    if (child == 0) {
        keel_process_name(name);
        if (write(named[1], name, sizeof name) != sizeof name) _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(named[0], name, sizeof name), sizeof name);
    assert_int_equal(state_of(name), KEEL_PROCESS_RUNS);
    int ended;
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, &ended, WUNTRACED), child);
    assert_int_equal(state_of(name), KEEL_PROCESS_STOPPED);
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(state_of(name), KEEL_PROCESS_GONE); // nobody asked for its exit status yet
    waitpid(child, NULL, 0);
    assert_int_equal(state_of(name), KEEL_PROCESS_GONE);
    close(named[0]);
    close(named[1]);
}

static void a_number_that_another_process_has_now_is_not_taken_for_it(void **state) {
    (void)state;
    char name[KEEL_PROCESS_NAME], other[2 * KEEL_PROCESS_NAME];
    keel_process_name(name);
    const char *rest = strchr(name, ' ') + 1;
    rest += strspn(rest, "0123456789");
    snprintf(other, sizeof other, "%d 1%s", (int)getpid(), rest);
    assert_int_equal(state_of(other), KEEL_PROCESS_GONE);
}

static void of_other_machines_and_of_no_names_nothing_is_known(void **state) {
    (void)state;
    char name[KEEL_PROCESS_NAME];
    keel_process_name(name);
    name[strlen(name) - 1] ^= 1; // of the boot
    static const char *const names[] = {"", "7", "7 8", "x", "-1 1 pid:[1] b", "  "};
    char nobody[KEEL_PROCESS_NAME + 8];
    snprintf(nobody, sizeof nobody, "0%s", strchr(name, ' ')); // of no process
    assert_int_equal(state_of(nobody), KEEL_PROCESS_UNKNOWN);
    assert_int_equal(state_of(name), KEEL_PROCESS_UNKNOWN);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        assert_int_equal(state_of(names[i]), KEEL_PROCESS_UNKNOWN);
    char large[1000];
    memset(large, '7', sizeof large);
    assert_int_equal(keel_process_state((keel_str_t){large, sizeof large}), KEEL_PROCESS_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_lock_is_held_by_one_and_free_when_released),
        TEST(locks_are_released_in_any_order),
        TEST(a_process_without_standard_input_locks),
        TEST(a_locks_file_says_who_holds_it),
        TEST(a_link_is_not_locked),
        TEST(threads_hold_a_lock_that_each_removes_one_by_one),
        TEST(a_childs_end_leaves_the_lock_to_its_parent),
        TEST(a_killed_holders_lock_is_free_although_its_child_lives),
        TEST(a_forked_child_finds_the_log_free),
        TEST(a_process_is_seen_to_run_to_stop_and_to_end),
        TEST(a_number_that_another_process_has_now_is_not_taken_for_it),
        TEST(of_other_machines_and_of_no_names_nothing_is_known),
    };
    return cmocka_run_group_tests_name("base locks", tests, NULL, NULL);
}
