
#include "engine/sent.h"

typedef struct sent_type_t {
    PJRT_Buffer_Type element;
    int64_t dims[SENT_RANK];
    size_t rank;
    uint32_t looks;
    site_t *sites[SENT_SITES]; // the last that sent it stands last
    uint32_t site_count;
} sent_type_t;

struct sent_t {
    atomic_bool is_on;
    pthread_mutex_t lock; // for the fields below; never held while the stack is read
    uint64_t taken;       // how often sent_take emptied the list
    sent_type_t types[SENT_TYPES];
    uint32_t count;
};

keel_status_t sent_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(sent_t), &memory));
    engine->sent = memory;
    pthread_mutex_init(&engine->sent->lock, NULL);
    return NULL;
}

void sent_destroy(sent_t *sent) {
    if (!sent) return;
    pthread_mutex_destroy(&sent->lock);
    keel_free(sent);
}

void sent_before_fork(keel_engine_t *engine) {
    pthread_mutex_lock(&engine->sent->lock);
}

void sent_after_fork(keel_engine_t *engine) {
    pthread_mutex_unlock(&engine->sent->lock);
}

void sent_begin(keel_engine_t *engine) {
    bool is_wanted = engine->journal && engine->settings.stack;
    if (is_wanted) atomic_store_explicit(&engine->sent->is_on, true, memory_order_relaxed);
}

// ---- noting ------------------------------------------------------------------------------------

// NULL if there is no room for another one. Call it under the lock.
static sent_type_t *type_of(sent_t *sent, PJRT_Buffer_Type element, const int64_t *dims,
                            size_t rank) {
    for (uint32_t i = 0; i < sent->count; ++i) {
        sent_type_t *type = &sent->types[i];
        if (type->element == element && type->rank == rank &&
            memcmp(type->dims, dims, rank * sizeof *dims) == 0)
            return type;
    }
    if (sent->count == SENT_TYPES) return NULL;
    sent_type_t *type = &sent->types[sent->count++];
    *type = (sent_type_t){.element = element, .rank = rank};
    memcpy(type->dims, dims, rank * sizeof *dims);
    return type;
}

// It comes to stand last; of too many, the one that was not seen for longest goes.
static void add_site(sent_type_t *type, site_t *site) {
    uint32_t at = 0;
    while (at < type->site_count && type->sites[at] != site)
        ++at;
    if (at == SENT_SITES) at = 0;
    if (at == type->site_count) ++type->site_count;
    for (; at + 1 < type->site_count; ++at)
        type->sites[at] = type->sites[at + 1];
    type->sites[at] = site;
}

void sent_note(keel_engine_t *engine, PJRT_Buffer_Type element, const int64_t *dims, size_t rank) {
    sent_t *sent = engine->sent;
    if (!rank || rank > SENT_RANK || !atomic_load_explicit(&sent->is_on, memory_order_relaxed))
        return;
    pthread_mutex_lock(&sent->lock);
    sent_type_t *type = type_of(sent, element, dims, rank);
    bool wants = type && type->looks < SENT_LOOKS;
    if (wants) ++type->looks;
    uint64_t taken = sent->taken;
    pthread_mutex_unlock(&sent->lock);
    site_t *site = wants ? sites_here(engine->sites) : NULL;
    const keel_place_t *place = site ? site_place(site) : NULL;
    if (!place || keel_is_foreign_file(keel_str(place->file), place->application)) return;
    pthread_mutex_lock(&sent->lock);
    if (sent->taken == taken) add_site(type, site);
    pthread_mutex_unlock(&sent->lock);
}

// ---- taking ------------------------------------------------------------------------------------

// As src/explain writes it; NULL for an element that no report names so.
static const char *element_text(PJRT_Buffer_Type element) {
    switch (element) {
        case PJRT_Buffer_Type_PRED:
            return "bool";
        case PJRT_Buffer_Type_S8:
            return "i8";
        case PJRT_Buffer_Type_S16:
            return "i16";
        case PJRT_Buffer_Type_S32:
            return "i32";
        case PJRT_Buffer_Type_S64:
            return "i64";
        case PJRT_Buffer_Type_U8:
            return "u8";
        case PJRT_Buffer_Type_U16:
            return "u16";
        case PJRT_Buffer_Type_U32:
            return "u32";
        case PJRT_Buffer_Type_U64:
            return "u64";
        case PJRT_Buffer_Type_F16:
            return "f16";
        case PJRT_Buffer_Type_BF16:
            return "bf16";
        case PJRT_Buffer_Type_F32:
            return "f32";
        case PJRT_Buffer_Type_F64:
            return "f64";
        case PJRT_Buffer_Type_C64:
            return "c64";
        case PJRT_Buffer_Type_C128:
            return "c128";
        default:
            return NULL;
    }
}

static keel_status_t type_text(const sent_type_t *type, keel_arena_t *arena, const char **out) {
    keel_buffer_t text;
    keel_str_t kept = KEEL_STR("");
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "%s[", element_text(type->element));
    for (size_t i = 0; i < type->rank; ++i)
        keel_buffer_format(&text, i ? ",%lld" : "%lld", (long long)type->dims[i]);
    keel_buffer_text(&text, "]");
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept);
    keel_buffer_deinitialize(&text);
    *out = kept.data;
    return status;
}

// Call it under the lock.
static keel_status_t list_sent(const sent_t *sent, keel_arena_t *arena, keel_made_t *out,
                               uint32_t *out_count) {
    for (uint32_t i = 0; i < sent->count; ++i) {
        const sent_type_t *type = &sent->types[i];
        const char *text = NULL;
        if (!type->site_count || !element_text(type->element)) continue;
        KEEL_TRY(type_text(type, arena, &text));
        for (uint32_t k = 0; k < type->site_count; ++k)
            out[(*out_count)++] = (keel_made_t){text, *site_place(type->sites[k])};
    }
    return NULL;
}

const keel_made_t *sent_take(keel_engine_t *engine, keel_arena_t *arena, uint32_t *out_count) {
    sent_t *sent = engine->sent;
    void *memory = NULL;
    *out_count = 0;
    if (!atomic_load_explicit(&sent->is_on, memory_order_relaxed)) return NULL;
    pthread_mutex_lock(&sent->lock);
    size_t most = (size_t)sent->count * SENT_SITES;
    keel_status_t status =
        most ? keel_arena_array(arena, most, sizeof(keel_made_t), &memory) : NULL;
    if (!status && most) status = list_sent(sent, arena, memory, out_count);
    sent->count = 0;
    ++sent->taken;
    pthread_mutex_unlock(&sent->lock);
    keel_status_ignore(status); // then some lines are not known
    return memory;
}
