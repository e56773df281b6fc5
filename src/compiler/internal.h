// Room-internal: a compiler, its queue and its thread.
#ifndef KEEL_COMPILER_INTERNAL_H_
#define KEEL_COMPILER_INTERNAL_H_

#include <pthread.h>

#include "compiler/child.h"

typedef struct task_t {
    struct task_t *next;
    keel_buffer_t message; // the job, until it is sent
    keel_compiled_t result;
    char *no_memory; // the error if there is none for another; NULL once it is the result's
    bool is_trial;
    unsigned seconds; // that a trial may take; 0: any time
} task_t;

typedef struct task_list_t {
    task_t *first, **end; // `end` is where the next one goes
} task_list_t;

typedef struct slot_t {
    child_t child;
    task_t *task; // that it compiles; NULL: none
    int core;     // that it is pinned to; -1: none
} slot_t;

struct keel_compiler_t {
    // Set before the thread starts.
    char *target_name, *worker;
    char *interpreter, *library; // for children that need handlers; NULL: not looked for yet
    keel_buffer_t target;        // JSON
    char *plugin;
    keel_target_platform_t platform;
    uint64_t device_count;
    pid_t owner; // the process
    pthread_t thread;
    int wake; // an eventfd that ends the thread's poll

    // The thread's own.
    slot_t *slots;
    unsigned slot_count;
    struct pollfd *polled; // 2 for each slot, and one
    uint64_t looked;       // when, by keel_clock_monotonic

    pthread_mutex_t lock; // for all below
    pthread_cond_t changed;
    uint64_t last_id;
    task_list_t waiting, done;
    uint64_t running; // tasks
    uint64_t waiters; // threads in keel_compiler_wait
    bool stopping;
};

// ---- tasks.c -----------------------------------------------------------------------------------

void tasks_initialize(task_list_t *list);
void tasks_put(task_list_t *list, task_t *task);
task_t *tasks_take_first(task_list_t *list); // NULL if there is none
task_t *tasks_take(task_list_t *list, uint64_t id);
bool tasks_have(const task_list_t *list, uint64_t id);
void task_destroy(task_t *task);
// Its answer, copied; the message is borrowed. False if that is none: then the task has failed.
bool task_answer(task_t *task, keel_bytes_t message);
void task_fail(task_t *task, PJRT_Error_Code code, const char *format, ...) KEEL_PRINTF(3, 4);

// ---- thread.c ----------------------------------------------------------------------------------

// Starts and reads children until the compiler stops.
void *compiler_run(void *compiler);
void compiler_wake(keel_compiler_t *compiler);

// ---- find.c ------------------------------------------------------------------------------------

// The path of libkeel_pjrt.so.
keel_status_t compiler_find_library(char **out) KEEL_MUST_CHECK;

// ---- devices.c ---------------------------------------------------------------------------------

// KEEL_INVALID if the options ask for more devices than there are, or for one that is not there.
keel_status_t compiler_check_devices(keel_bytes_t options, uint64_t device_count,
                                     const char *target) KEEL_MUST_CHECK;

#endif // KEEL_COMPILER_INTERNAL_H_
