// A compiler's thread: gives waiting jobs to children, and takes their answers.
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "compiler/internal.h"

// ---- jobs --------------------------------------------------------------------------------------

static void finish(keel_compiler_t *compiler, slot_t *slot) {
    task_t *task = slot->task;
    pthread_mutex_lock(&compiler->lock);
    KEEL_ASSERT(task && compiler->running);
    slot->task = NULL;
    --compiler->running;
    tasks_put(&compiler->done, task);
    pthread_cond_broadcast(&compiler->changed);
    pthread_mutex_unlock(&compiler->lock);
}

static void end_child(keel_compiler_t *compiler, slot_t *slot) {
    child_end(&slot->child, false, (char[64]){0});
    if (slot->task) finish(compiler, slot);
}

// The child has ended by itself, or closed its files.
static void lose(keel_compiler_t *compiler, slot_t *slot) {
    char end[64] = "";
    child_end(&slot->child, true, end);
    if (!slot->task) return;
    keel_str_t said = child_last_line(&slot->child);
    if (slot->task->is_trial && strcmp(end, "SIGALRM") == 0)
        task_fail(slot->task, PJRT_Error_Code_DEADLINE_EXCEEDED, "it did not end within %u s",
                  slot->task->seconds);
    else
        task_fail(slot->task, PJRT_Error_Code_INTERNAL, "the %s crashed (%s)%s%.*s",
                  slot->task->is_trial ? "plugin" : "compiler", end, said.size ? ": " : "",
                  KEEL_STR_ARGS(said));
    finish(compiler, slot);
}

// Looked for when it is needed first.
static keel_status_t find_interpreter(keel_compiler_t *compiler) {
    if (!compiler->interpreter) KEEL_TRY(keel_python_find(NULL, &compiler->interpreter));
    if (!compiler->interpreter)
        return keel_status_make(KEEL_NOT_FOUND,
                                "no Python is found in which the functions that programs call by "
                                "name can be loaded; activate the environment that has them");
    return compiler->library ? NULL : compiler_find_library(&compiler->library);
}

static keel_status_t start_interpreter(keel_compiler_t *compiler, child_t *child) {
    KEEL_TRY(find_interpreter(compiler));
    const char *const command[] = {
        compiler->interpreter,
        "-I",
        "-S",
        "-c",
        "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).keel_compile_worker())",
        compiler->library,
        NULL};
    return child_start(child, command);
}

static bool fits(const keel_compiler_t *compiler, const keel_handler_t *handler) {
    return keel_handler_fits(handler, keel_target_platform_names[compiler->platform]);
}

static bool needs_interpreter(const keel_compiler_t *compiler) {
    for (size_t i = 0, end = keel_handler_count(); i < end; ++i)
        if (fits(compiler, keel_handler_at(i))) return true;
    return false;
}

static keel_status_t start_child(keel_compiler_t *compiler, slot_t *slot) {
    const char *const command[] = {compiler->worker, KEEL_COMPILER_COMMAND, NULL};
    bool is_interpreter = needs_interpreter(compiler);
    if (is_interpreter)
        KEEL_TRY(start_interpreter(compiler, &slot->child));
    else
        KEEL_TRY(child_start(&slot->child, command));
    slot->child.is_interpreter = is_interpreter;
    wire_put_setup(&slot->child.out, &(wire_setup_t){.target = keel_buffer_bytes(&compiler->target),
                                                     .plugin = keel_str(compiler->plugin),
                                                     .core = slot->core});
    return keel_buffer_status(&slot->child.out);
}

// Those that it does not know yet.
static void send_handlers(const keel_compiler_t *compiler, child_t *child) {
    for (size_t end = keel_handler_count(); child->handlers < end; ++child->handlers) {
        const keel_handler_t *handler = keel_handler_at(child->handlers);
        if (fits(compiler, handler)) wire_put_handler(&child->out, handler);
    }
}

static void give(keel_compiler_t *compiler, slot_t *slot) {
    child_t *child = &slot->child;
    if (child->pid && !child->is_interpreter && needs_interpreter(compiler))
        child_end(child, false, (char[64]){0});
    keel_status_t status = child->pid ? NULL : start_child(compiler, slot);
    if (!status) {
        send_handlers(compiler, child);
        keel_buffer_t *message = &slot->task->message;
        if (slot->child.out.size) {
            keel_buffer_append(&slot->child.out, message->data, message->size);
        } else {
            keel_buffer_t empty = slot->child.out;
            slot->child.out = *message;
            *message = empty;
        }
        status = keel_buffer_status(&slot->child.out);
    }
    if (!status) return;
    task_fail(slot->task, PJRT_Error_Code_INTERNAL, "%s", keel_status_message(status));
    keel_status_ignore(status);
    end_child(compiler, slot);
}

// A child that has nothing to do, otherwise room for one more; NULL if all compile.
static slot_t *find_slot(keel_compiler_t *compiler) {
    slot_t *empty = NULL;
    for (unsigned i = compiler->slot_count; i > 0; --i) {
        slot_t *slot = &compiler->slots[i - 1];
        if (slot->task) continue;
        if (slot->child.pid) return slot;
        empty = slot;
    }
    return empty;
}

static bool give_one(keel_compiler_t *compiler) {
    slot_t *slot = find_slot(compiler);
    if (!slot) return false;
    pthread_mutex_lock(&compiler->lock);
    task_t *task = compiler->stopping ? NULL : tasks_take_first(&compiler->waiting);
    slot->task = task;
    if (task) ++compiler->running;
    pthread_mutex_unlock(&compiler->lock);
    if (!task) return false;
    give(compiler, slot);
    return true;
}

// ---- answers -----------------------------------------------------------------------------------

static void take_answer(keel_compiler_t *compiler, slot_t *slot) {
    bool is_good = task_answer(slot->task, keel_buffer_bytes(&slot->child.in));
    if (!is_good) child_end(&slot->child, false, (char[64]){0});
    if (is_good) child_next(&slot->child);
    finish(compiler, slot);
}

// A child that says something without being asked, or something that cannot be read, has run into
// trouble of its own.
static void receive(keel_compiler_t *compiler, slot_t *slot) {
    bool is_done = false;
    keel_status_t status = child_receive(&slot->child, &is_done);
    bool is_gone = keel_status_code(status) == KEEL_NOT_FOUND;
    if (is_done && slot->task) {
        take_answer(compiler, slot);
    } else if (is_gone) {
        lose(compiler, slot);
    } else if (is_done || status) {
        if (slot->task)
            task_fail(slot->task, PJRT_Error_Code_INTERNAL, "%s", keel_status_message(status));
        end_child(compiler, slot);
    }
    keel_status_ignore(status);
}

// ---- the thread --------------------------------------------------------------------------------

static nfds_t prepare(keel_compiler_t *compiler) {
    struct pollfd *polled = compiler->polled;
    nfds_t count = 0;
    polled[count++] = (struct pollfd){.fd = compiler->wake, .events = POLLIN};
    for (unsigned i = 0; i < compiler->slot_count; ++i) {
        const child_t *child = &compiler->slots[i].child;
        short sends = child->out.size ? POLLOUT : 0;
        polled[count++] =
            (struct pollfd){.fd = child->pid ? child->socket : -1, .events = POLLIN | sends};
        polled[count++] = (struct pollfd){.fd = child->pid ? child->said : -1, .events = POLLIN};
    }
    return count;
}

static void serve(keel_compiler_t *compiler) {
    if (compiler->polled[0].revents) {
        ssize_t ignored = read(compiler->wake, &(uint64_t){0}, sizeof(uint64_t));
        (void)ignored;
    }
    for (unsigned i = 0; i < compiler->slot_count; ++i) {
        slot_t *slot = &compiler->slots[i];
        if (compiler->polled[2 + 2 * i].revents) child_listen(&slot->child);
        short socket = compiler->polled[1 + 2 * i].revents;
        // A child that is gone is noticed when it is listened to.
        if (socket & POLLOUT) child_send(&slot->child);
        if (socket & ~POLLOUT) receive(compiler, slot);
    }
}

// Ends children that do not go on. Returns how long to wait until the next look, in milliseconds:
// 0 if there is room for other work now, -1 if no child has any.
static int look(keel_compiler_t *compiler) {
    uint64_t now = keel_clock_monotonic();
    bool is_due = now - compiler->looked >= CHILD_LOOK * 1000000ull, has_work = false,
         has_room = false;
    if (is_due) compiler->looked = now;
    for (unsigned i = 0; i < compiler->slot_count; ++i) {
        slot_t *slot = &compiler->slots[i];
        const char *why = slot->task && is_due ? child_look(&slot->child) : NULL;
        if (why) {
            task_fail(slot->task, PJRT_Error_Code_DEADLINE_EXCEEDED, "the %s's process %d %s",
                      slot->task->is_trial ? "plugin" : "compiler", (int)slot->child.pid, why);
            end_child(compiler, slot);
            has_room = true;
        }
        has_work = has_work || slot->task;
    }
    if (has_room) return 0;
    return has_work ? CHILD_LOOK : -1;
}

void *compiler_run(void *context) {
    keel_compiler_t *compiler = context;
    for (;;) {
        while (give_one(compiler))
            continue;
        pthread_mutex_lock(&compiler->lock);
        bool is_over = compiler->stopping;
        pthread_mutex_unlock(&compiler->lock);
        if (is_over) break;
        int pause = look(compiler);
        if (poll(compiler->polled, prepare(compiler), pause) > 0) serve(compiler);
    }
    for (unsigned i = 0; i < compiler->slot_count; ++i)
        end_child(compiler, &compiler->slots[i]);
    return NULL;
}
