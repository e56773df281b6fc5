#define _GNU_SOURCE
#include "compiler/worker.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler/child.h"

// ---- the process -------------------------------------------------------------------------------

// The parent's files that were not marked for closing.
static void close_others(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, CHILD_DESCRIPTOR + 1, ~0u, 0) == 0) return;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    for (int i = CHILD_DESCRIPTOR + 1; i < (most > 0 && most < 65536 ? (int)most : 65536); ++i)
        close(i);
}

// If memory runs out, the kernel ends this process first: that costs one program, not the client.
static void volunteer(void) {
    keel_status_ignore(keel_file_append("/proc/self/oom_score_adj", keel_bytes("500", 3)));
}

static void settle_down(void) {
    const struct rlimit no_core = {0};
    close_others();
    volunteer();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core); // of gigabytes
    setvbuf(stderr, NULL, _IONBF, 0);
}

static void pin(int core) {
    cpu_set_t one;
    if (core < 0 || core >= CPU_SETSIZE) return;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one); // if this fails, it is only slower
}

// ---- messages ----------------------------------------------------------------------------------

// False at the end.
static bool read_all(void *data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = read(CHILD_DESCRIPTOR, (char *)data + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static bool write_all(keel_bytes_t bytes) {
    for (size_t done = 0; done < bytes.size;) {
        ssize_t sent = write(CHILD_DESCRIPTOR, bytes.data + done, bytes.size - done);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        done += (size_t)sent;
    }
    return true;
}

// KEEL_NOT_FOUND at the end.
static keel_status_t read_message(wire_kind_t *out_kind, keel_buffer_t *out) {
    uint8_t head[WIRE_HEAD];
    uint64_t size;
    if (!read_all(head, sizeof head)) return keel_status_make(KEEL_NOT_FOUND, "no more work");
    KEEL_TRY(wire_read_head(head, out_kind, &size));
    out->size = 0;
    uint8_t *room = keel_buffer_reserve(out, (size_t)size);
    if (!room) return keel_buffer_status(out);
    if (!read_all(room, (size_t)size)) return keel_status_make(KEEL_NOT_FOUND, "no more work");
    out->size = (size_t)size;
    return NULL;
}

// ---- the work ----------------------------------------------------------------------------------

// What the CUDA plugin says if its Python environment lacks a package, and what then helps. A
// machine with a GPU usually has them all; one that only compiles may not.
static const struct {
    const char *words, *next;
} lacking[] = {
    {"No PTX compilation provider",
     "the CUDA plugin finds neither libnvJitLink nor ptxas; install nvidia-nvjitlink-cu12 and "
     "nvidia-cuda-nvcc-cu12 (or those for CUDA 13) in its Python environment\n"},
    {"libdevice not found",
     "the CUDA plugin does not find libdevice; install nvidia-cuda-nvcc-cu12 (or that for CUDA 13) "
     "in its Python environment\n"},
};

// The plugin's own words, if it was the plugin that refused the program.
static void explain(const worker_t *worker, keel_status_t why, keel_buffer_t *out) {
    bool is_plugins = keel_status_code(why) == KEEL_PLUGIN && worker->words.size;
    for (size_t i = 0; is_plugins && i < sizeof lacking / sizeof *lacking; ++i)
        if (strstr(keel_buffer_cstr(&worker->words), lacking[i].words))
            keel_buffer_text(out, lacking[i].next);
    if (is_plugins)
        keel_buffer_append(out, worker->words.data, worker->words.size);
    else
        keel_buffer_text(out, keel_status_message(why));
    if (*worker->trouble && strstr(keel_buffer_cstr(out), "handler"))
        keel_buffer_format(out, " (%s)", worker->trouble);
}

static keel_status_t answer_error(const worker_t *worker, keel_status_t why, keel_buffer_t *out) {
    keel_buffer_t message;
    keel_buffer_initialize(&message, 0);
    explain(worker, why, &message);
    out->size = 0;
    wire_put_answer(
        out, &(wire_answer_t){.error = keel_bytes_str(keel_buffer_bytes(&message)),
                              .code = worker->code ? worker->code : PJRT_Error_Code_INTERNAL});
    keel_status_t status = keel_buffer_status(&message);
    keel_buffer_deinitialize(&message);
    return status ? status : keel_buffer_status(out);
}

static keel_status_t work(worker_t *worker, keel_status_t opened, keel_bytes_t message,
                          keel_buffer_t *answer) {
    wire_job_t job;
    keel_status_t why = NULL;
    if (!opened) {
        why = wire_read_job(message, &job);
        if (!why && job.executable.size)
            why = worker_try(worker, &job, answer);
        else if (!why)
            why = worker_compile(worker, &job, answer);
    }
    keel_status_t status = opened || why ? answer_error(worker, why ? why : opened, answer) : NULL;
    keel_status_ignore(why);
    return status;
}

static keel_status_t follow(worker_t *worker, keel_status_t *opened, keel_buffer_t *message,
                            keel_buffer_t *answer) {
    for (;;) {
        wire_kind_t kind;
        wire_setup_t setup;
        wire_handler_t handler;
        KEEL_TRY(read_message(&kind, message));
        if (kind == WIRE_SETUP) {
            KEEL_TRY(wire_read_setup(keel_buffer_bytes(message), &setup));
            pin(setup.core);
            *opened = worker_open(&setup, worker);
            continue;
        }
        if (kind == WIRE_HANDLER) {
            KEEL_TRY(wire_read_handler(keel_buffer_bytes(message), &handler));
            if (!*opened) worker_add_handler(worker, &handler);
            continue;
        }
        if (!*opened) worker->code = PJRT_Error_Code_OK;
        worker->words.size = 0;
        answer->size = 0;
        KEEL_TRY(work(worker, *opened, keel_buffer_bytes(message), answer));
        if (!write_all(keel_buffer_bytes(answer))) return NULL;
    }
}

int keel_compiler_work(void) {
    static worker_t worker; // a compile may leave threads behind that see it
    keel_buffer_t message, answer;
    keel_status_t opened = keel_status_make(KEEL_INTERNAL, "no setup");
    settle_down();
    keel_buffer_initialize(&message, 0);
    keel_buffer_initialize(&answer, 0);
    keel_buffer_initialize(&worker.words, 0);
    keel_status_t status = follow(&worker, &opened, &message, &answer);
    bool is_over = !status || keel_status_code(status) == KEEL_NOT_FOUND;
    if (!is_over) fprintf(stderr, "%s\n", keel_status_message(status));
    keel_status_ignore(status);
    keel_status_ignore(opened);
    // Skips the plugin's clean-up, which may wait for its threads.
    _exit(is_over ? 0 : 3);
}
