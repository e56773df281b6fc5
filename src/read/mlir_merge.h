// mlir_merge: merges all attributes of an operation into one dictionary.
#ifndef KEEL_READ_MLIR_MERGE_H_
#define KEEL_READ_MLIR_MERGE_H_

#include "read/mlir_reader.h"

// Dictionaries already made, looked up by operation name, properties and plain dictionary.
typedef struct keel_mlir_merge_slot_t {
    uint32_t name, properties, dictionary;
    keel_attr_id_t attribute;
} keel_mlir_merge_slot_t;

typedef struct keel_mlir_merger_t {
    keel_mlir_t *m;
    keel_mlir_merge_slot_t *slots; // name KEEL_NONE: free
    uint32_t mask, count;          // slots less one; used ones
} keel_mlir_merger_t;

void keel_mlir_merger_initialize(keel_mlir_merger_t *merger, keel_mlir_t *m);
void keel_mlir_merger_deinitialize(keel_mlir_merger_t *merger);

// The dictionary of an operation with these properties and this plain dictionary, either of which
// may be KEEL_NONE: the properties in alphabetical order, then the rest. KEEL_NONE if empty.
keel_status_t keel_mlir_merge(keel_mlir_merger_t *merger, uint32_t name, uint32_t properties,
                              keel_attr_id_t dictionary, keel_attr_id_t *out) KEEL_MUST_CHECK;

// A dictionary without one property, for the operations with this name: one that no operation of
// the file has.
keel_status_t keel_mlir_merge_without(keel_mlir_merger_t *merger, uint32_t name,
                                      keel_attr_id_t dictionary, keel_mlir_name_t property,
                                      keel_attr_id_t *out) KEEL_MUST_CHECK;

// A copy of a dictionary without the entries of those names; KEEL_NONE if nothing is left.
keel_status_t keel_mlir_without(keel_mlir_t *m, keel_attr_id_t dictionary,
                                const keel_mlir_name_t *names, size_t name_count,
                                keel_attr_id_t *out) KEEL_MUST_CHECK;

#endif // KEEL_READ_MLIR_MERGE_H_
