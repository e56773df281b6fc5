#include <stdarg.h>
#include <stdio.h>

#include "compiler/internal.h"

void tasks_initialize(task_list_t *list) {
    *list = (task_list_t){.end = &list->first};
}

void tasks_put(task_list_t *list, task_t *task) {
    task->next = NULL;
    *list->end = task;
    list->end = &task->next;
}

static task_t *take_at(task_list_t *list, task_t **at) {
    KEEL_ASSERT(!*list->end); // it is the last one's
    task_t *task = *at;
    *at = task->next;
    if (list->end == &task->next) list->end = at;
    return task;
}

task_t *tasks_take_first(task_list_t *list) {
    return list->first ? take_at(list, &list->first) : NULL;
}

task_t *tasks_take(task_list_t *list, uint64_t id) {
    for (task_t **at = &list->first; *at; at = &(*at)->next)
        if ((*at)->result.id == id) return take_at(list, at);
    return NULL;
}

bool tasks_have(const task_list_t *list, uint64_t id) {
    for (const task_t *task = list->first; task; task = task->next)
        if (task->result.id == id) return true;
    return false;
}

void keel_compiled_deinitialize(keel_compiled_t *compiled) {
    keel_free(compiled->error);
    keel_free(compiled->executable);
    keel_free(compiled->program);
    keel_free(compiled->program_format);
    keel_free(compiled->fingerprint);
    keel_arena_deinitialize(&compiled->texts);
    *compiled = (keel_compiled_t){0};
}

void task_destroy(task_t *task) {
    if (!task) return;
    keel_buffer_deinitialize(&task->message);
    keel_compiled_deinitialize(&task->result);
    keel_free(task->no_memory);
    keel_free(task);
}

// ---- results -----------------------------------------------------------------------------------

// There is no memory for what came, so that is the answer.
static void forget(task_t *task, keel_status_t status) {
    keel_compiled_t answer = {.id = task->result.id,
                              .context = task->result.context,
                              .error = task->no_memory,
                              .code = PJRT_Error_Code_RESOURCE_EXHAUSTED};
    keel_status_ignore(status);
    keel_compiled_deinitialize(&task->result);
    task->result = answer;
    task->no_memory = NULL;
}

void task_fail(task_t *task, PJRT_Error_Code code, const char *format, ...) {
    enum { LONGEST = 8192 };
    char text[LONGEST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    task->result.code = code;
    keel_status_t status = keel_strdup(keel_str(text), &task->result.error);
    if (status) forget(task, status);
}

static keel_status_t dup_known(keel_bytes_t bytes, uint8_t **out, size_t *out_size) {
    if (!bytes.size) return NULL;
    KEEL_TRY(keel_bytes_dup(bytes, out));
    *out_size = bytes.size;
    return NULL;
}

static keel_status_t keep_result(keel_cursor_t *cursor, keel_compiled_t *out) {
    int64_t dims[WIRE_RANK];
    keel_array_shape_t shape;
    void *memory;
    if (!wire_read_shape(cursor, dims, &shape))
        return keel_status_make(KEEL_CORRUPT, "the results of a trial are damaged");
    keel_bytes_t bytes = keel_cursor_take(cursor, keel_proto_varint(cursor));
    if (cursor->failed) return keel_status_make(KEEL_CORRUPT, "a result of a trial is truncated");
    KEEL_TRY(keel_arena_array(&out->texts, shape.rank, sizeof *dims, &memory));
    if (shape.rank) memcpy(memory, dims, shape.rank * sizeof *dims);
    shape.dims = memory;
    KEEL_TRY(keel_arena_array(&out->texts, bytes.size, 1, &memory));
    if (bytes.size) memcpy(memory, bytes.data, bytes.size);
    out->results[out->result_count++] = (keel_result_t){shape, keel_bytes(memory, bytes.size)};
    return NULL;
}

static keel_status_t keep_results(keel_bytes_t results, keel_compiled_t *out) {
    keel_cursor_t cursor = keel_cursor(results);
    uint64_t count = keel_proto_varint(&cursor);
    void *memory;
    if (cursor.failed || count > results.size)
        return keel_status_make(KEEL_CORRUPT, "the results of a trial are damaged");
    KEEL_TRY(keel_arena_array(&out->texts, (size_t)count, sizeof *out->results, &memory));
    out->results = memory;
    while (out->result_count < count)
        KEEL_TRY(keep_result(&cursor, out));
    return NULL;
}

static keel_status_t keep_costs(keel_bytes_t costs, keel_compiled_t *out) {
    enum { LEAST = 5 }; // bytes of one
    keel_cursor_t cursor = keel_cursor(costs);
    void *memory;
    if (!costs.size) return NULL;
    KEEL_TRY(keel_arena_array(&out->texts, costs.size / LEAST + 1, sizeof *out->costs, &memory));
    out->costs = memory;
    while (keel_cursor_left(&cursor)) {
        keel_str_t name;
        float value;
        if (!wire_read_cost(&cursor, &name, &value))
            return keel_status_make(KEEL_CORRUPT, "the costs of a program are damaged");
        KEEL_TRY(keel_arena_str(&out->texts, name, &name));
        out->costs[out->cost_count++] =
            (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                              .name = name.data,
                              .name_size = name.size,
                              .type = PJRT_NamedValue_kFloat,
                              .float_value = value,
                              .value_size = 1};
    }
    return NULL;
}

static keel_status_t keep(const wire_answer_t *answer, keel_compiled_t *out) {
    out->code = (PJRT_Error_Code)answer->code;
    if (answer->error.size) return keel_strdup(answer->error, &out->error);
    if (answer->is_trial) return keep_results(answer->results, out);
    KEEL_TRY(keep_costs(answer->costs, out));
    KEEL_TRY(dup_known(answer->executable, &out->executable, &out->executable_size));
    KEEL_TRY(dup_known(answer->fingerprint, &out->fingerprint, &out->fingerprint_size));
    if (!answer->program.size) return NULL;
    KEEL_TRY(dup_known(answer->program, &out->program, &out->program_size));
    return keel_strdup(answer->program_format, &out->program_format);
}

bool task_answer(task_t *task, keel_bytes_t message) {
    wire_answer_t answer;
    keel_status_t status = wire_read_answer(message, &answer);
    if (status) {
        task_fail(task, PJRT_Error_Code_INTERNAL, "%s", keel_status_message(status));
        keel_status_ignore(status);
        return false;
    }
    keel_compiled_t *out = &task->result;
    out->has_memory = answer.has_memory;
    out->memory = answer.memory;
    out->seconds = keel_seconds(answer.nanoseconds);
    out->cpu_seconds = keel_seconds(answer.cpu_nanoseconds);
    out->peak_memory = answer.peak_memory;
    status = keep(&answer, out);
    if (status) forget(task, status);
    return true;
}
