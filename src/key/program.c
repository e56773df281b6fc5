// The digest of a program: of its entry, which contains the digest of each function that it calls,
// and so on; then everything that the entry does not reach, as a set.
#include <stdlib.h>

#include "key/key.h"
#include "key/sharding.h"
#include "key/stream.h"

// Private names do not matter, except for two families that XLA looks for: it neither inlines nor
// merges functions with such names, and Shardy reads them back as its own operations.
static bool name_matters(const keel_program_t *program, uint32_t index) {
    const keel_function_t *function = &program->functions.data[index];
    if (index == program->entry) return false;
    keel_str_t name = keel_program_str(program, function->name);
    return function->is_public || keel_str_contains(name, "xla.sdy.") ||
           keel_str_contains(name, "shmap_body");
}

// The attributes of each argument or result that has any, with its number.
static void put_signature(keel_stream_t *stream, keel_attr_id_t list) {
    keel_canon_t *canon = stream->canon;
    const keel_program_t *program = canon->program;
    bool is_list = list != KEEL_NONE && program->attrs.data[list].kind == KEEL_ATTR_ARRAY;
    bool is_other = list != KEEL_NONE && !is_list;
    keel_stream_number(stream, is_other);
    if (is_other) keel_stream_node(stream, keel_canon_attr(canon, list));
    keel_list_t items =
        keel_program_list(program, is_list ? program->attrs.data[list].b : KEEL_NONE);
    for (uint32_t i = 0; i < items.count && !canon->status; ++i) {
        keel_node_id_t node =
            keel_canon_dict(canon, items.items[i], KEEL_PLACE_ARGUMENT, KEEL_NONE);
        if (!node) continue;
        keel_stream_number(stream, (uint64_t)i + 1);
        keel_stream_node(stream, node);
    }
    keel_stream_number(stream, 0);
}

static void put_head(keel_stream_t *stream, uint32_t index) {
    keel_canon_t *canon = stream->canon;
    const keel_function_t *function = &canon->program->functions.data[index];
    bool named = name_matters(canon->program, index);
    keel_stream_number(stream, (unsigned)named << 1 | function->is_public);
    if (named) {
        size_t begin = keel_form_begin(canon, KEEL_ATTR_STRING);
        keel_form_str(canon, keel_program_str(canon->program, function->name));
        keel_stream_node(stream, keel_form_end(canon, begin));
    }
    keel_stream_node(stream, keel_canon_type(canon, function->type));
    put_signature(stream, function->argument_attributes);
    put_signature(stream, function->result_attributes);
    keel_stream_node(stream,
                     keel_canon_dict(canon, function->attributes, KEEL_PLACE_FUNCTION, index));
    if (function->operation != KEEL_NONE) {
        const keel_operation_t *op = &canon->program->operations.data[function->operation];
        keel_stream_node(stream,
                         keel_canon_op_name(canon, op->name & ~(unsigned)KEEL_OP_HAS_REGIONS));
        keel_stream_node(stream,
                         keel_canon_dict(canon, op->attributes, KEEL_PLACE_FUNCTION, index));
    }
}

static void digest_function(keel_canon_t *canon, uint32_t index) {
    const keel_program_t *program = canon->program;
    const keel_function_t *function = &program->functions.data[index];
    keel_op_id_t first, end;
    keel_canon_body(program, function, &first, &end);
    keel_stream_t stream;
    keel_stream_begin(&stream, canon, "keel function");
    put_head(&stream, index);
    keel_stream_number(&stream, function->root == KEEL_NONE ? 0 : function->root - first + 1ull);
    if (function->region != KEEL_NONE)
        keel_stream_region(&stream, &program->regions.data[function->region]);
    keel_stream_operations(&stream, first, end, function->first_value);
    canon->digests[index] = keel_stream_end(&stream);
    canon->digested[index] = 1;
}

static int by_bytes(const void *left, const void *right) {
    return memcmp(left, right, KEEL_DIGEST_SIZE);
}

// A set: sorted, without duplicates.
static void put_set(keel_stream_t *stream, keel_digest_t *digests, uint32_t count) {
    qsort(digests, count, sizeof *digests, by_bytes);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!i || !keel_digest_equal(&digests[i], &digests[kept - 1])) digests[kept++] = digests[i];
    keel_stream_number(stream, kept);
    for (uint32_t i = 0; i < kept; ++i)
        keel_stream_digest(stream, &digests[i]);
}

// Functions that the entry does not reach, and meshes: their order does not matter. Without a
// partitioner, a mesh matters only to what refers to it.
static keel_status_t put_rest(keel_stream_t *stream, const keel_calls_t *calls) {
    keel_canon_t *canon = stream->canon;
    uint32_t functions = calls->count - calls->from_entry;
    keel_digest_t *digests;
    KEEL_TRY(
        keel_calloc((size_t)functions + canon->mesh_count + 1, sizeof *digests, (void **)&digests));
    for (uint32_t i = 0; i < functions; ++i)
        digests[i] = canon->digests[calls->order[calls->from_entry + i]];
    put_set(stream, digests, functions);
    uint32_t meshes = 0;
    bool all = !keel_partitioning_is_none(&canon->partitioning);
    for (uint32_t i = 0; i < canon->mesh_count; ++i) {
        const keel_node_t *node = &canon->nodes[canon->meshes[i]];
        if (all || canon->mesh_named[i])
            digests[meshes++] = keel_digest(keel_bytes(node->bytes, node->size));
    }
    put_set(stream, digests, meshes);
    keel_free(digests);
    return NULL;
}

// Operations of the module other than functions and meshes, in order.
static void put_module(keel_stream_t *stream) {
    keel_canon_t *canon = stream->canon;
    const keel_program_t *program = canon->program;
    uint32_t count = canon->is_hlo ? 0 : keel_program_op_count(program);
    uint32_t function = 0;
    for (keel_op_id_t op = 0, next; op < count && !canon->status; op = next) {
        next = keel_program_next(program, op);
        unsigned name = program->operations.data[op].name & ~(unsigned)KEEL_OP_HAS_REGIONS;
        while (function < program->functions.count &&
               program->functions.data[function].operation < op)
            ++function;
        bool is_function = function < program->functions.count &&
                           program->functions.data[function].operation == op;
        if (is_function || canon->op_kinds[name] == KEEL_OP_MESH) continue;
        keel_stream_operations(stream, op, next, program->operations.data[op].first_result);
    }
}

static keel_status_t digest_program(keel_canon_t *canon, const keel_calls_t *calls,
                                    keel_digest_t *out) {
    const keel_program_t *program = canon->program;
    for (uint32_t i = 0; i < calls->count && !canon->status; ++i)
        digest_function(canon, calls->order[i]);
    keel_stream_t stream;
    keel_stream_begin(&stream, canon, "keel program");
    keel_stream_number(&stream, canon->is_hlo);
    keel_stream_number(&stream, program->entry != KEEL_NONE);
    if (program->entry != KEEL_NONE) keel_stream_digest(&stream, &canon->digests[program->entry]);
    keel_stream_node(&stream,
                     keel_canon_dict(canon, program->attributes, KEEL_PLACE_MODULE, KEEL_NONE));
    put_module(&stream);
    if (!canon->status) keel_canon_fail(canon, put_rest(&stream, calls));
    *out = keel_stream_end(&stream);
    keel_status_t status = canon->status;
    canon->status = NULL;
    return status;
}

keel_status_t keel_key_program_under(const keel_program_t *program, keel_bytes_t options,
                                     keel_digest_t *out) {
    keel_canon_t canon;
    keel_calls_t calls = {0};
    keel_status_t status =
        keel_canon_initialize(&canon, program, keel_partitioning(program, options));
    if (!status) status = keel_calls_initialize(&calls, &canon);
    keel_digest_t digest;
    if (!status) status = digest_program(&canon, &calls, &digest);
    if (!status) *out = digest;
    keel_calls_deinitialize(&calls);
    keel_canon_deinitialize(&canon);
    return status;
}

keel_status_t keel_key_program(const keel_program_t *program, keel_digest_t *out) {
    return keel_key_program_under(program, keel_bytes(NULL, 0), out);
}
