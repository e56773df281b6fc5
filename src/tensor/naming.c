// Named scopes: what the program is doing, as people call it, around the lines that trace it.
#include "tensor/trace.h"

static keel_status_t add_name(keel_context_t *context, const naming_t *naming, const char *name) {
    size_t size = strlen(name) + 1;
    if (size > UINT32_MAX - context->naming_text.count)
        return keel_status_make(KEEL_UNSUPPORTED, "scope: the names of this step are too long");
    KEEL_TRY(keel_table_reserve(&context->naming_text, (uint32_t)size));
    KEEL_TRY(keel_table_reserve(&context->namings, 1));
    memcpy(context->naming_text.data + context->naming_text.count, name, size);
    context->naming_text.count += (uint32_t)size;
    context->namings.data[context->namings.count++] = *naming;
    return NULL;
}

// False, with an error, if it cannot be opened.
static bool open_scope(keel_context_t *context, keel_caller_t site, const char *name) {
    const naming_t naming = {.text = context->naming_text.count,
                             .outer = context->naming,
                             .depth = context->naming == KEEL_NONE
                                          ? 1
                                          : context->namings.data[context->naming].depth + 1,
                             .site = site};
    if (!name || !context_is_text(name))
        context_fail(context, site, "scope: the name is missing, or not UTF-8");
    else if (naming.depth > NAMING_DEPTH)
        context_fail(context, site, "scope: %d are open; keel_scope_end was not called",
                     NAMING_DEPTH);
    if (context->error) return false;
    keel_status_t status = add_name(context, &naming, name);
    if (!status) return true;
    context_take(context, site, status);
    return false;
}

void keel_scope_begin_at(keel_caller_t site, keel_context_t *context, const char *name) {
    if (!context) return;
    if (context->naming_skipped || !open_scope(context, site, name))
        ++context->naming_skipped;
    else
        context->naming = context->namings.count - 1;
}

void keel_scope_end(keel_context_t *context) {
    if (!context) return;
    if (context->naming_skipped)
        --context->naming_skipped;
    else if (context->naming != KEEL_NONE)
        context->naming = context->namings.data[context->naming].outer;
}
