#include "run/makers.h"

#include "run/steps.h"

// More than any Keel writes.
static size_t length_of(const json_t *list) {
    enum { MOST = 256 };
    size_t length = json_array_size(list);
    return length < MOST ? length : MOST;
}

static keel_status_t read_numbers(const json_t *event, keel_texts_t *texts, const uint32_t **out,
                                  size_t *out_count) {
    const json_t *list = json_object_get(event, "arguments");
    void *memory;
    KEEL_TRY(keel_texts_array(texts, length_of(list), sizeof **out, &memory));
    uint32_t *numbers = memory;
    for (size_t i = 0; i < length_of(list); ++i) {
        json_int_t number = json_integer_value(json_array_get(list, i));
        if (number >= 0 && number < UINT32_MAX) numbers[(*out_count)++] = (uint32_t)number;
    }
    *out = numbers;
    return NULL;
}

static keel_status_t add_inputs(keel_makers_t *makers, const json_t *event, keel_texts_t *texts) {
    void *grown = makers->inputs;
    KEEL_TRY(
        keel_grow_array(makers->input_count, sizeof *makers->inputs, &makers->input_room, &grown));
    makers->inputs = grown;
    keel_run_inputs_t *inputs = &makers->inputs[makers->input_count];
    *inputs = (keel_run_inputs_t){.pid = json_integer_value(json_object_get(event, "pid")),
                                  .is_again = json_is_true(json_object_get(event, "again"))};
    KEEL_TRY(keel_event_keep_field(texts, event, "program", &inputs->program));
    KEEL_TRY(keel_event_keep_field(texts, event, "maker", &inputs->maker));
    KEEL_TRY(read_numbers(event, texts, &inputs->arguments, &inputs->count));
    ++makers->input_count;
    return NULL;
}

static keel_status_t add_tensors(const json_t *event, const char *program, keel_texts_t *texts,
                                 keel_run_tensors_t **list, size_t *count, size_t *room) {
    const json_t *others = json_object_get(event, "programs");
    void *grown = *list, *memory;
    KEEL_TRY(keel_grow_array(*count, sizeof **list, room, &grown));
    *list = grown;
    keel_run_tensors_t *tensors = &(*list)[*count];
    *tensors = (keel_run_tensors_t){.pid = json_integer_value(json_object_get(event, "pid")),
                                    .results = keel_event_count(event, "results")};
    KEEL_TRY(keel_event_keep_field(texts, event, program, &tensors->program));
    KEEL_TRY(read_numbers(event, texts, &tensors->arguments, &tensors->argument_count));
    KEEL_TRY(keel_texts_array(texts, length_of(others), sizeof *tensors->programs, &memory));
    const char **programs = memory;
    for (size_t i = 0; i < length_of(others); ++i) {
        const char *text = json_string_value(json_array_get(others, i));
        if (text) KEEL_TRY(keel_texts_keep(texts, text, &programs[tensors->program_count++]));
    }
    tensors->programs = programs;
    ++*count;
    return NULL;
}

keel_status_t keel_makers_add(keel_makers_t *makers, const json_t *event, keel_texts_t *texts) {
    enum { MOST = 1 << 14 };
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "inputs") == 0 && makers->input_count < MOST)
        return add_inputs(makers, event, texts);
    if (strcmp(kind, "steady") == 0 && makers->steady_count < MOST)
        return add_tensors(event, "program", texts, &makers->steady, &makers->steady_count,
                           &makers->steady_room);
    if (strcmp(kind, "abandoned") == 0 && makers->abandoned_count < MOST)
        return add_tensors(event, "maker", texts, &makers->abandoned, &makers->abandoned_count,
                           &makers->abandoned_room);
    return NULL;
}

void keel_makers_deinitialize(keel_makers_t *makers) {
    keel_free(makers->inputs);
    keel_free(makers->steady);
    keel_free(makers->abandoned);
    *makers = (keel_makers_t){0};
}
