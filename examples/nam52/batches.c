// A text as enriched rows. Its documents, the parts between blank lines, are packed one behind
// another; every fourth is given with its middle last (FIM). A row begins where the last one ended.
#include "nam52.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOS = 256, EOD, PRE, SUF, MID };
enum { LEAST_FIM = 24, CUTS = 4, MAX_FIM = 4 };

// A document's tokens, and where its parts are cut; -1: it has none.
typedef struct document_t {
    uint64_t begin, end;
    int64_t cuts[CUTS]; // in the stream
} document_t;

struct loader_t {
    config_t config;
    int fim_count; // of a row
    int is_padded_by_step, is_complete;
    long step;
    int32_t *tokens;
    uint64_t count, room, place;
    document_t *documents;
    size_t document_count, document_room;
    int32_t *ids, *targets, *docs, *valid, *bounds, *structures, *levels; // of a step
    float *loss, *aux;
};

static void *grown(void *data, uint64_t *room, uint64_t needed, size_t size) {
    if (needed <= *room) return data;
    *room = needed * 2;
    return realloc(data, *room * size);
}

static void push(loader_t *loader, int token) {
    loader->tokens = grown(loader->tokens, &loader->room, loader->count + 1, sizeof(int32_t));
    if (loader->tokens) loader->tokens[loader->count++] = token;
}

static void push_bytes(loader_t *loader, const unsigned char *text, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
        push(loader, text[i]);
}

static void add_document(loader_t *loader, const unsigned char *text, size_t size) {
    document_t document = {.begin = loader->count, .cuts = {-1, -1, -1, -1}};
    const int is_turned = loader->document_count % 4 == 3 && size >= LEAST_FIM;
    push(loader, BOS);
    if (is_turned) {
        push(loader, PRE);
        document.cuts[0] = (int64_t)loader->count;
        push_bytes(loader, text, 0, size / 3);
        push(loader, SUF);
        document.cuts[1] = (int64_t)loader->count;
        push_bytes(loader, text, 2 * size / 3, size);
        push(loader, MID);
        document.cuts[2] = (int64_t)loader->count;
        push_bytes(loader, text, size / 3, 2 * size / 3);
        document.cuts[3] = (int64_t)loader->count;
    } else {
        push_bytes(loader, text, 0, size);
    }
    push(loader, EOD);
    document.end = loader->count;
    uint64_t room = loader->document_room;
    loader->documents =
        grown(loader->documents, &room, loader->document_count + 1, sizeof(document_t));
    loader->document_room = room;
    if (loader->documents) loader->documents[loader->document_count++] = document;
}

static int is_blank(const unsigned char *text, size_t size) {
    for (size_t i = 0; i < size; ++i)
        if (!isspace(text[i])) return 0;
    return 1;
}

static void add_documents(loader_t *loader, const unsigned char *text, size_t size) {
    for (size_t begin = 0; begin < size;) {
        size_t end = begin;
        while (end + 1 < size && (text[end] != '\n' || text[end + 1] != '\n'))
            ++end;
        if (end + 1 >= size) end = size;
        if (!is_blank(text + begin, end - begin)) add_document(loader, text + begin, end - begin);
        begin = end + 2;
    }
}

static keel_status_t read_text(loader_t *loader, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return keel_status_make(KEEL_IO, "%s: %s", path, strerror(errno));
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    unsigned char *text = malloc(size > 0 ? (size_t)size : 1);
    rewind(file);
    if (text && size > 0) add_documents(loader, text, fread(text, 1, (size_t)size, file));
    free(text);
    fclose(file);
    if (loader->count > (uint64_t)loader->config.length) return NULL;
    return keel_status_make(KEEL_INVALID, "%s: %llu tokens, and a row has %d", path,
                            (unsigned long long)loader->count, loader->config.length);
}

keel_status_t loader_open(const config_t *config, const char *path, loader_t **out) {
    loader_t *loader = *out = calloc(1, sizeof *loader);
    if (!loader) return keel_status_make(KEEL_NO_MEMORY, "no memory for the batches");
    loader->config = *config;
    loader->fim_count = config->vocabulary < 1024 ? 2 : MAX_FIM;
    const size_t rows = (size_t)config->micro_batches * (size_t)config->rows;
    const size_t tokens = rows * (size_t)config->length;
    int32_t **const parts[] = {&loader->ids, &loader->targets, &loader->docs, &loader->structures,
                               &loader->levels};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        if (!(*parts[i] = calloc(tokens, sizeof(int32_t))))
            return keel_status_make(KEEL_NO_MEMORY, "no memory for the batches");
    loader->valid = calloc(rows, sizeof(int32_t));
    loader->bounds = calloc(rows * MAX_FIM * CUTS, sizeof(int32_t));
    loader->loss = calloc(tokens, sizeof(float));
    loader->aux = calloc(tokens, sizeof(float));
    if (!loader->valid || !loader->bounds || !loader->loss || !loader->aux)
        return keel_status_make(KEEL_NO_MEMORY, "no memory for the batches");
    return read_text(loader, path);
}

void loader_close(loader_t *loader) {
    if (!loader) return;
    void *const parts[] = {loader->tokens, loader->documents,  loader->ids,    loader->targets,
                           loader->docs,   loader->structures, loader->levels, loader->valid,
                           loader->bounds, loader->loss,       loader->aux};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        free(parts[i]);
    free(loader);
}

keel_status_t loader_fields(const config_t *config, keel_context_t *keel, keel_batch_t **out) {
    const int64_t A = config->micro_batches, B = config->rows, T = config->length;
    const int64_t F = config->vocabulary < 1024 ? 2 : MAX_FIM;
    const keel_shape_t all = KEEL_SHAPE(A, B, T);
    const keel_field_t fields[] = {
        {.name = "tokens", .dtype = KEEL_I32, .shape = all, .is_required = 1},
        {.name = "targets", .dtype = KEEL_I32, .shape = all, .is_required = 1},
        {.name = "loss_mask", .dtype = KEEL_F32, .shape = all, .fill = 1},
        {.name = "doc_ids", .dtype = KEEL_I32, .shape = all},
        {.name = "valid_token_count", .dtype = KEEL_I32, .shape = KEEL_SHAPE(A, B), .fill = -1},
        {.name = "fim_bounds", .dtype = KEEL_I32, .shape = KEEL_SHAPE(A, B, F, CUTS), .fill = -1},
        {.name = "structure_ids", .dtype = KEEL_I32, .shape = all},
        {.name = "dep_levels", .dtype = KEEL_I32, .shape = all},
        {.name = "aux_mask", .dtype = KEEL_F32, .shape = all, .fill = 1},
    };
    return keel_batch_create(keel, fields, sizeof fields / sizeof *fields, out);
}

// ---- rows --------------------------------------------------------------------------------------

static int structure_of(int token) {
    if (token >= 256) return 8;
    if (token >= 'a' && token <= 'z') return 1;
    if (token >= 'A' && token <= 'Z') return 2;
    if (token >= '0' && token <= '9') return 3;
    if (token == ' ' || token == '\t') return 4;
    if (token == '\n' || token == '\r') return 5;
    return token && strchr("()[]{}<>\"'", token) ? 6 : 7;
}

static const document_t *document_at(const loader_t *loader, uint64_t place) {
    size_t low = 0, high = loader->document_count;
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        *(loader->documents[middle].begin <= place ? &low : &high) = middle;
    }
    return &loader->documents[low];
}

static int clipped(int64_t cut, int64_t start, int64_t size) {
    cut -= start;
    return (int)(cut < 0 ? 0 : cut > size ? size : cut);
}

static void fill_bounds(const loader_t *loader, int32_t *bounds, uint64_t start, int size) {
    const document_t *end = loader->documents + loader->document_count;
    int count = 0;
    for (int i = 0; i < loader->fim_count * CUTS; ++i)
        bounds[i] = -1;
    for (const document_t *d = document_at(loader, start);
         d < end && d->begin < start + (uint64_t)size; ++d) {
        if (d->cuts[0] < 0 || d->cuts[3] <= (int64_t)start || d->cuts[0] >= (int64_t)start + size ||
            count == loader->fim_count)
            continue;
        for (int k = 0; k < CUTS; ++k)
            bounds[count * CUTS + k] = clipped(d->cuts[k], (int64_t)start, size);
        ++count;
    }
}

static int padding_of(const loader_t *loader, size_t row) {
    if (!loader->is_padded_by_step) return 16 * (int)(row % 2);
    return 16 * (int)((7 * loader->step + 3 * (long)(row % (size_t)loader->config.rows)) % 5);
}

static void fill_row(loader_t *loader, size_t row) {
    const int length = loader->config.length, size = length - padding_of(loader, row);
    if (loader->place + (uint64_t)size + 1 > loader->count) loader->place = 0;
    const uint64_t start = loader->place;
    const document_t *document = document_at(loader, start), *first = document;
    const size_t at = row * (size_t)length;
    int depth = 0;
    for (int t = 0; t < length; ++t) {
        const size_t i = at + (size_t)t;
        const int is_real = t < size, token = is_real ? loader->tokens[start + (uint64_t)t] : 0;
        if (is_real && start + (uint64_t)t >= document->end) ++document, depth = 0;
        if (token == '(' || token == '[' || token == '{') ++depth;
        loader->ids[i] = token;
        loader->docs[i] = is_real ? (int)(document - first) : -1;
        loader->targets[i] = is_real ? loader->tokens[start + (uint64_t)t + 1] : 0;
        loader->loss[i] = is_real && start + (uint64_t)t + 1 < document->end && t + 1 < size;
        loader->aux[i] = token != '\n' ? 1 : 0.5F; // ends of lines are easy
        loader->structures[i] = is_real ? structure_of(token) : 0;
        loader->levels[i] = depth > 15 ? 15 : depth;
        if ((token == ')' || token == ']' || token == '}') && depth) --depth;
    }
    loader->valid[row] = size;
    fill_bounds(loader, loader->bounds + row * (size_t)(loader->fim_count * CUTS), start, size);
    loader->place += (uint64_t)size;
}

void loader_next(loader_t *loader, long step) {
    loader->step = step;
    for (int row = 0; row < loader->config.micro_batches * loader->config.rows; ++row)
        fill_row(loader, (size_t)row);
}

// One that is optional is missing in each so many steps.
static void add(const loader_t *loader, keel_host_array_t *arrays, size_t *count,
                keel_host_array_t array, long every) {
    if (!every || loader->is_complete || loader->step % every != every - 1)
        arrays[(*count)++] = array;
}

size_t loader_arrays(const loader_t *l, keel_host_array_t arrays[MAX_FIELDS]) {
    const config_t *c = &l->config;
    const int64_t A = c->micro_batches, B = c->rows, T = c->length;
    const keel_shape_t all = KEEL_SHAPE(A, B, T), bounds = KEEL_SHAPE(A, B, l->fim_count, CUTS);
    size_t count = 0;
    add(l, arrays, &count, (keel_host_array_t){"tokens", KEEL_I32, all, l->ids}, 0);
    add(l, arrays, &count, (keel_host_array_t){"targets", KEEL_I32, all, l->targets}, 0);
    add(l, arrays, &count, (keel_host_array_t){"loss_mask", KEEL_F32, all, l->loss}, 0);
    add(l, arrays, &count, (keel_host_array_t){"doc_ids", KEEL_I32, all, l->docs}, 0);
    add(l, arrays, &count, (keel_host_array_t){"fim_bounds", KEEL_I32, bounds, l->bounds}, 5);
    add(l, arrays, &count, (keel_host_array_t){"structure_ids", KEEL_I32, all, l->structures}, 7);
    add(l, arrays, &count, (keel_host_array_t){"dep_levels", KEEL_I32, all, l->levels}, 11);
    add(l, arrays, &count, (keel_host_array_t){"aux_mask", KEEL_F32, all, l->aux}, 13);
    add(l, arrays, &count,
        (keel_host_array_t){"valid_token_count", KEEL_I32, KEEL_SHAPE(A, B), l->valid}, 17);
    return count;
}

void loader_become(loader_t *loader, const habits_t *habits) {
    loader->config.rows = habits->rows;
    loader->config.length = habits->length;
    loader->is_padded_by_step = habits->is_padded_by_step;
    loader->is_complete = habits->is_complete;
}

counts_t loader_counts(const loader_t *loader) {
    const config_t *c = &loader->config;
    counts_t counts = {0};
    int documents = 0;
    for (int micro = 0; micro < c->micro_batches; ++micro) {
        int counted = 0;
        for (int row = micro * c->rows; row < (micro + 1) * c->rows; ++row) {
            if (!micro) counts.real += loader->valid[row];
            for (int t = 0; t < c->length; ++t) {
                const int at = row * c->length + t;
                if (!micro && loader->docs[at] >= 0)
                    documents += !t || loader->docs[at] != loader->docs[at - 1];
                counted += loader->loss[at] > 0;
            }
        }
        if (counted > counts.counted) counts.counted = counted;
    }
    counts.average = counts.real / (documents ? documents : 1);
    return counts;
}

uint64_t loader_place(const loader_t *loader) {
    return loader->place;
}

void loader_seek(loader_t *loader, uint64_t place) {
    loader->place = place < loader->count ? place : 0;
}

double loader_entropy(const loader_t *loader) {
    uint64_t counts[512] = {0};
    double sum = 0;
    for (uint64_t i = 0; i < loader->count; ++i)
        ++counts[loader->tokens[i] & 511];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
        if (counts[i]) sum -= (double)counts[i] * log((double)counts[i] / (double)loader->count);
    return sum / (double)loader->count;
}
