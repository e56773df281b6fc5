// Goes on with each prompt, one byte after the other, always the most likely one.
//
//   ./gpt notes.txt --steps 500 --save gpt.safetensors
//   ./generate gpt.safetensors "The " "A list is"
//
// One program writes: it takes the byte before, and keys and values from a cache of fixed size. One
// more reads the prompts of each bucket: 8 bytes, 16, 32, ... So there are never more than a few,
// whatever the prompts are. With --recompute every byte is computed from the whole row: the same
// text, slowly, from one program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpt_model.h"

enum { MAX_LENGTH = 1024, SMALLEST_BUCKET = 8 };

typedef struct options_t {
    const char *weights;
    long layers, width, length, count; // `count`: bytes to write
    int is_recomputed;
    char **prompts; // NULL behind the last
} options_t;

typedef struct writer_t {
    const options_t *options;
    gpt_t gpt;
    gpt_cache_t cache;
    keel_tensor_t byte; // i32[1,1]: the newest one
    int32_t row[MAX_LENGTH];
    int64_t size; // of the row so far
} writer_t;

// ---- programs ----------------------------------------------------------------------------------

// The index of the largest of f32[BYTES]; the first one of several.
static keel_tensor_t most_likely(const gpt_t *gpt, keel_tensor_t logits) {
    keel_tensor_t index = keel_iota(gpt->keel, KEEL_I32, KEEL_SHAPE(BYTES), 0);
    keel_tensor_t is_largest = keel_equal(logits, keel_max(logits, KEEL_AXES(0)));
    return keel_min(keel_select(is_largest, index, keel_constant(index, BYTES)), KEEL_AXES(0));
}

static void assign_byte(writer_t *writer, keel_tensor_t logits) {
    keel_tensor_t byte = most_likely(&writer->gpt, logits);
    keel_assign(writer->byte, keel_reshape(byte, KEEL_SHAPE(1, 1)));
}

// Reads the row so far in `room` bytes, of which the first `size` are real.
static void trace_row(writer_t *writer, int64_t room, gpt_cache_t *cache) {
    const gpt_t *gpt = &writer->gpt;
    const int seen = cache ? gpt->length : (int)room;
    keel_tensor_t bytes = keel_input(gpt->keel, "row", KEEL_I32, KEEL_SHAPE(1, room), writer->row);
    keel_tensor_t places = keel_slice(keel_tree_get(gpt->tree, "position"), 0, 0, room);
    keel_tensor_t logits = gpt_logits(gpt, bytes, places, gpt_past(gpt, (int)room, seen), cache);
    logits = keel_reshape(logits, KEEL_SHAPE(room, BYTES));
    assign_byte(writer, keel_take(logits, keel_number(bytes, (double)writer->size - 1)));
}

static void trace_prompt(writer_t *writer) {
    int64_t bucket = SMALLEST_BUCKET;
    while (bucket < writer->size)
        bucket *= 2;
    writer->cache.is_next = (keel_tensor_t){0};
    trace_row(writer, bucket < writer->gpt.length ? bucket : writer->gpt.length, &writer->cache);
}

// The byte after the newest one, whose place is a number: not a part of the program.
static void trace_next(writer_t *writer) {
    const gpt_t *gpt = &writer->gpt;
    const int n = gpt->length;
    keel_tensor_t place = keel_number(writer->byte, (double)writer->size - 1);
    keel_tensor_t weight = keel_take(keel_tree_get(gpt->tree, "position"), place);
    keel_tensor_t visible =
        keel_less_equal(keel_iota(gpt->keel, KEEL_I32, KEEL_SHAPE(1, n), 1), place);
    writer->cache.is_next =
        keel_equal(keel_iota(gpt->keel, KEEL_I32, KEEL_SHAPE(n, 1, 1), 0), place);
    keel_tensor_t logits =
        gpt_logits(gpt, writer->byte, keel_reshape(weight, KEEL_SHAPE(1, gpt->width)), visible,
                   &writer->cache);
    assign_byte(writer, keel_reshape(logits, KEEL_SHAPE(BYTES)));
}

// ---- writing -----------------------------------------------------------------------------------

static keel_status_t write_byte(writer_t *writer) {
    KEEL_TRY(keel_step_end(writer->gpt.keel));
    int32_t *byte = &writer->row[writer->size++];
    KEEL_TRY(keel_read(writer->byte, byte, sizeof *byte));
    putchar(*byte);
    return NULL;
}

static keel_status_t go_on(writer_t *writer, const char *prompt) {
    const options_t *options = writer->options;
    const int64_t given = (int64_t)strlen(prompt), room = writer->gpt.length - given;
    if (!given || room < 1)
        return keel_status_make(KEEL_INVALID, "a prompt has 1 to %ld bytes", options->length - 1);
    memset(writer->row, 0, sizeof writer->row);
    for (int64_t i = 0; i < given; ++i)
        writer->row[i] = (unsigned char)prompt[i];
    writer->size = given;
    printf("%s", prompt);
    for (long i = 0; i < options->count && i < room; ++i) {
        if (options->is_recomputed)
            trace_row(writer, writer->gpt.length, NULL);
        else if (i == 0)
            trace_prompt(writer);
        else
            trace_next(writer);
        KEEL_TRY(write_byte(writer));
    }
    putchar('\n');
    return NULL;
}

static keel_status_t run(writer_t *writer) {
    gpt_t *gpt = &writer->gpt;
    KEEL_TRY(keel_context_create(NULL, &gpt->keel));
    KEEL_TRY(keel_tree_create(gpt->keel, &gpt->tree));
    gpt_add_weights(gpt);
    gpt_add_cache(gpt, &writer->cache);
    writer->byte = keel_tree_state(gpt->tree, "byte", KEEL_I32, KEEL_SHAPE(1, 1), KEEL_UNSET);
    KEEL_TRY(keel_checkpoint_load(gpt->tree, writer->options->weights, keel_is_parameter, NULL));
    for (char **prompt = writer->options->prompts; *prompt; ++prompt)
        KEEL_TRY(go_on(writer, *prompt));
    fprintf(stderr, "%llu programs for %llu bytes\n",
            (unsigned long long)keel_context_figures(gpt->keel).programs,
            (unsigned long long)keel_context_figures(gpt->keel).steps);
    return NULL;
}

// ---- options -----------------------------------------------------------------------------------

static int is_number(const char *text, long most, long *out) {
    char *end;
    *out = strtol(text, &end, 10);
    return end != text && !*end && *out >= 1 && *out <= most;
}

// Options come first.
static int parse(char **arguments, options_t *options) {
    while (*arguments && !strncmp(*arguments, "--", 2)) {
        const char *name = *arguments++;
        if (!strcmp(name, "--recompute")) {
            options->is_recomputed = 1;
            continue;
        }
        long *value = !strcmp(name, "--layers")  ? &options->layers
                      : !strcmp(name, "--width") ? &options->width
                      : !strcmp(name, "--seq")   ? &options->length
                      : !strcmp(name, "--count") ? &options->count
                                                 : NULL;
        if (!value || !*arguments || !is_number(*arguments++, 1 << 14, value)) return 0;
    }
    if (!*arguments) return 0;
    options->weights = *arguments++;
    options->prompts = arguments;
    return *arguments && options->layers <= MAX_LAYERS && options->length <= MAX_LENGTH &&
           options->width % HEAD_WIDTH == 0;
}

int main(int count, char **arguments) {
    options_t options = {.layers = 8, .width = 256, .length = 128, .count = 64};
    if (!count || !parse(arguments + 1, &options)) {
        fprintf(stderr, "usage: generate [--layers 8] [--width 256] [--seq 128] [--count 64]\n"
                        "                [--recompute] WEIGHTS PROMPT...\n");
        return 2;
    }
    static writer_t writer;
    writer.options = &options;
    writer.gpt.layers = (int)options.layers;
    writer.gpt.width = (int)options.width;
    writer.gpt.length = (int)options.length;
    keel_status_t status = run(&writer);
    keel_tree_free(writer.gpt.tree);
    keel_context_free(writer.gpt.keel);
    if (!status) return 0;
    fprintf(stderr, "generate: %s\n", keel_status_message(status));
    keel_status_ignore(status);
    return 1;
}
