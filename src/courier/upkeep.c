// What a remote has, and removing what is old there.
#include "courier/export.h"
#include "store/layout.h"

typedef struct walk_t {
    const upkeep_order_t *order;
    keel_status_t (*visit)(struct walk_t *walk, const char *name, const keel_digest_t *key,
                           const facts_t *facts);
    // To remove, once the list is read: some kinds of remotes do not like both at once.
    char **names;
    upkept_t *facts;
    size_t count, name_room, fact_room;
} walk_t;

static keel_status_t visit_name(void *context, const char *name, const facts_t *facts) {
    walk_t *walk = context;
    keel_digest_t key;
    const char *slash = strrchr(name, '/'), *rest;
    if (!slash || !keel_store_parse_name(slash + 1, &key, &rest) || strcmp(rest, "keel") != 0)
        return NULL;
    return walk->visit(walk, name, &key, facts);
}

static keel_status_t walk_entries(const place_t *place, walk_t *walk) {
    const backend_t *backend = &place->backend;
    char *prefix;
    if (!place->is_open) return keel_status_make(KEEL_UNSUPPORTED, "%s", place->why);
    KEEL_TRY(
        keel_path(&prefix, "%s%sentries/", place->remote->space, *place->remote->space ? "/" : ""));
    keel_status_t status = backend->kind->list(backend->context, prefix, visit_name, walk);
    keel_free(prefix);
    return status;
}

static upkept_t upkept(const keel_digest_t *key, const facts_t *facts) {
    return (upkept_t){*key, facts->size, facts->age};
}

static keel_status_t tell(walk_t *walk, const char *name, const keel_digest_t *key,
                          const facts_t *facts) {
    const upkept_t entry = upkept(key, facts);
    (void)name;
    walk->order->tell(walk->order->context, &entry);
    return NULL;
}

keel_status_t courier_list(const place_t *place, const upkeep_order_t *order) {
    walk_t walk = {.order = order, .visit = tell};
    return walk_entries(place, &walk);
}

static keel_status_t keep_old(walk_t *walk, const char *name, const keel_digest_t *key,
                              const facts_t *facts) {
    void *names = walk->names, *entries = walk->facts;
    if (facts->age == AGE_UNKNOWN)
        return keel_status_make(KEEL_UNSUPPORTED, "it does not say how old entries are");
    if (facts->age < walk->order->older) return NULL;
    KEEL_TRY(keel_grow_array(walk->count, sizeof *walk->names, &walk->name_room, &names));
    walk->names = names;
    KEEL_TRY(keel_grow_array(walk->count, sizeof *walk->facts, &walk->fact_room, &entries));
    walk->facts = entries;
    walk->facts[walk->count] = upkept(key, facts);
    KEEL_TRY(keel_strdup(keel_str(name), &walk->names[walk->count]));
    ++walk->count;
    return NULL;
}

keel_status_t courier_prune(const place_t *place, const upkeep_order_t *order) {
    walk_t walk = {.order = order, .visit = keep_old};
    keel_status_t status = walk_entries(place, &walk);
    for (size_t i = 0; i < walk.count; ++i) {
        if (!status) status = place->backend.kind->remove(place->backend.context, walk.names[i]);
        if (!status) order->tell(order->context, &walk.facts[i]);
        keel_free(walk.names[i]);
    }
    keel_free(walk.names);
    keel_free(walk.facts);
    return status;
}
