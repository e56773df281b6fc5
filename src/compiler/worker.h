// Room-internal: a child, from the inside. One thread of ours; the process ends with it, so what it
// made of the plugin is not destroyed.
#ifndef KEEL_COMPILER_WORKER_H_
#define KEEL_COMPILER_WORKER_H_

#include "compiler/wire.h"

typedef struct worker_t {
    keel_target_t target;
    PJRT_Api *api;                      // the plugin's, through the bridge
    PJRT_TopologyDescription *topology; // of a target that needs no client
    PJRT_Client *client;                // otherwise
    // The latest error of the plugin: its code, and all of its words; 0 and empty if there is none.
    PJRT_Error_Code code;
    keel_buffer_t words;
    char trouble[512]; // with the first handler that could not be registered; or ""
} worker_t;

// Loads the plugin, and makes the topology or the client.
keel_status_t worker_open(const wire_setup_t *setup, worker_t *out) KEEL_MUST_CHECK;
// Registers a handler with the plugin. A failure is kept in `trouble`, for programs that call it.
void worker_add_handler(worker_t *worker, const wire_handler_t *handler);
// Compiles one program and appends the answer with its frame. A failure of this function is
// Keel's; a program that does not compile is an answer.
keel_status_t worker_compile(worker_t *worker, const wire_job_t *job,
                             keel_buffer_t *out) KEEL_MUST_CHECK;
// The same for a trial: loads and executes a program. The process ends if that takes too long.
keel_status_t worker_try(worker_t *worker, const wire_job_t *job,
                         keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_COMPILER_WORKER_H_
