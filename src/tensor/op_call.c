// Custom calls: functions that the plugin knows by name.
#include "tensor/operation.h"

// Words: whether it has side effects, the version of its interface, then the texts of target and
// configuration, each with its final 0.
enum { CALL_HAS_EFFECT, CALL_VERSION, CALL_TEXT };
enum { CALL_TEXT_LIMIT = 1 << 20 };

static bool is_good(keel_context_t *context, keel_caller_t site, const keel_custom_call_t *call,
                    const keel_tensor_t *operands, size_t count, const keel_tensor_t *out) {
    const char *config = call && call->config ? call->config : "";
    bool is_named = call && call->target && *call->target && context_is_text(call->target);
    if (!is_named)
        context_fail(context, site, "custom_call: no target, or one that is not UTF-8");
    else if (!context_is_text(config) || strlen(call->target) + strlen(config) > CALL_TEXT_LIMIT)
        context_fail(context, site,
                     "custom_call: the configuration of %s is not UTF-8, or too long",
                     call->target);
    else if (!out || !call->results || !call->result_count || call->result_count > UINT16_MAX ||
             count > UINT16_MAX || (count && !operands))
        context_fail(context, site, "custom_call: %s has no operands or results to go with",
                     call->target);
    return !context->error;
}

static bool results_are_good(keel_context_t *context, keel_caller_t site,
                             const keel_custom_call_t *call) {
    for (size_t i = 0; i < call->result_count && !context->error; ++i) {
        const keel_call_result_t *result = &call->results[i];
        int64_t count;
        if ((unsigned)result->dtype >= KEEL_DTYPE_COUNT || result->shape.rank < 0 ||
            result->shape.rank > KEEL_MAX_RANK || !shape_elements(&result->shape, &count))
            context_fail(context, site, "custom_call: result %zu of %s has no dtype or shape",
                         i + 1, call->target);
    }
    return !context->error;
}

static void add_call(keel_context_t *context, const keel_custom_call_t *call, const uint32_t *nodes,
                     uint32_t count, int64_t *words, uint32_t word_count, result_t *results,
                     keel_tensor_t *out) {
    const char *config = call->config ? call->config : "";
    size_t target_size = strlen(call->target) + 1;
    words[CALL_HAS_EFFECT] = call->has_side_effect != 0;
    words[CALL_VERSION] = call->is_ffi ? 4 : 1; // API_VERSION_TYPED_FFI, API_VERSION_ORIGINAL
    memcpy(words + CALL_TEXT, call->target, target_size);
    memcpy((char *)(words + CALL_TEXT) + target_size, config, strlen(config) + 1);
    node_spec_t spec = {.kind = NODE_CALL, .words = words, .word_count = word_count};
    for (size_t i = 0; i < call->result_count; ++i)
        results[i] = (result_t){call->results[i].dtype, call->results[i].shape};
    spec.dtype = results->dtype;
    spec.shape = results->shape;
    if (call->result_count == 1)
        *out = trace_add(context, &spec, nodes, count);
    else
        trace_add_tuple(context, &spec, nodes, count, results, (uint32_t)call->result_count, out);
}

void keel_custom_call_at(keel_caller_t site, keel_context_t *context,
                         const keel_custom_call_t *call, const keel_tensor_t *operands,
                         size_t count, keel_tensor_t *out) {
    uint32_t *nodes = NULL;
    void *words = NULL, *results = NULL;
    for (size_t i = 0; out && call && i < call->result_count; ++i)
        out[i] = (keel_tensor_t){0};
    if (!context) return;
    context->site = site;
    if (!is_good(context, site, call, operands, count, out) ||
        !results_are_good(context, site, call))
        return;
    keel_context_t *same =
        count ? ops_begin_list(site, "custom_call", operands, (uint32_t)count, &nodes) : context;
    size_t size = strlen(call->target) + strlen(call->config ? call->config : "") + 2;
    uint32_t word_count = CALL_TEXT + (uint32_t)((size + 7) / 8);
    keel_status_t status = keel_calloc(word_count, sizeof(int64_t), &words);
    if (!status) status = keel_calloc(call->result_count, sizeof(result_t), &results);
    if (status)
        context_take(context, site, status);
    else if (same && same != context)
        context_fail(context, site, "custom_call: an operand belongs to another context");
    else if (same)
        add_call(context, call, nodes, (uint32_t)count, words, word_count, results, out);
    keel_free(nodes);
    keel_free(words);
    keel_free(results);
}

static keel_status_t emit_called(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    const char *target = (const char *)(item->words + CALL_TEXT);
    const char *config = target + strlen(target) + 1;
    fields_t fields = {0};
    keel_attr_id_t version;
    keel_type_id_t type;
    KEEL_TRY(emit_string(e, &fields, "custom_call_target", target));
    if (*config) KEEL_TRY(emit_string(e, &fields, "backend_config", config));
    if (item->words[CALL_HAS_EFFECT])
        KEEL_TRY(emit_flag(e, &fields, "custom_call_has_side_effect"));
    KEEL_TRY(keel_program_add_attr(e->program,
                                   (keel_attr_t){.kind = KEEL_ATTR_ENUM,
                                                 .klass = KEEL_ENUM_API_VERSION,
                                                 .a = (uint32_t)item->words[CALL_VERSION]},
                                   &version));
    KEEL_TRY(emit_field(e, &fields, "custom_call_api_version", version));
    if (item->node->dtype != DTYPE_TUPLE) return emit_plain(e, item, "custom-call", &fields, out);
    KEEL_TRY(emit_results_type(e, item->node, &type));
    return emit_typed(e, "custom-call", type, item->operands, item->node->operand_count, &fields,
                      out);
}

const operation_t operation_call = {emit_called, NULL, SHARDING_OF_OPERANDS};
