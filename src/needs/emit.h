// Room-internal: making the program of some parts.
#ifndef KEEL_NEEDS_EMIT_H_
#define KEEL_NEEDS_EMIT_H_

#include "needs/internal.h"

typedef struct needs_emit_t {
    keel_needs_t *needs;
    const keel_program_t *from;
    keel_program_t *to;
    const needs_part_t *part;  // that is being written
    keel_value_id_t *values;   // of `from` -> of `to`; KEEL_NONE: not there
    keel_map_t types;          // made here: elements -> type
    keel_map_t names;          // given here to functions
    KEEL_TABLE(uint32_t) list; // under construction
    uint32_t tuple, element;   // HLO: names of operations; KEEL_NONE until they are used
    uint32_t slice, join;      // MLIR: the same
    uint32_t copies;           // MLIR: of the region that is being written
} needs_emit_t;

keel_status_t needs_emit_mlir(needs_emit_t *e, const needs_part_t *part) KEEL_MUST_CHECK;
// emit_manual.c: the region once for each shard, on parts of the operands.
keel_status_t needs_emit_manual(needs_emit_t *e, keel_op_id_t op) KEEL_MUST_CHECK;
// emit_mlir.c: appends an operation like `op`, without operands, results and regions; what is live
// of a range; the value that an operand has in the new program.
keel_status_t needs_emit_like(needs_emit_t *e, keel_op_id_t op) KEEL_MUST_CHECK;
keel_status_t needs_emit_range(needs_emit_t *e, keel_op_id_t first,
                               keel_op_id_t end) KEEL_MUST_CHECK;
keel_status_t needs_emit_find(const needs_emit_t *e, keel_value_id_t value,
                              keel_value_id_t *out) KEEL_MUST_CHECK;
// The operations of the module that are in no function.
keel_status_t needs_emit_module(needs_emit_t *e) KEEL_MUST_CHECK;
keel_status_t needs_emit_hlo(needs_emit_t *e, const needs_part_t *part) KEEL_MUST_CHECK;
// The module's attributes.
keel_status_t needs_emit_hlo_attributes(needs_emit_t *e) KEEL_MUST_CHECK;
keel_status_t needs_emit_mlir_attributes(needs_emit_t *e) KEEL_MUST_CHECK;

keel_status_t needs_new_value(needs_emit_t *e, keel_type_id_t type,
                              keel_value_id_t *out) KEEL_MUST_CHECK;
// A type with those lists in the pool, or an equal one that was made before. `b` and `c`: offsets.
keel_status_t needs_new_type(needs_emit_t *e, keel_type_t type,
                             keel_type_id_t *out) KEEL_MUST_CHECK;

// ---- attributes, all of the new program --------------------------------------------------------

// Appends an attribute.
keel_status_t needs_new_attr(needs_emit_t *e, keel_attr_t attr,
                             keel_attr_id_t *out) KEEL_MUST_CHECK;
keel_status_t needs_new_array(needs_emit_t *e, const uint32_t *items, uint32_t count,
                              keel_attr_id_t *out) KEEL_MUST_CHECK;
// *inout becomes a copy of the dictionary in which that entry is another, or (NONE) is not there.
keel_status_t needs_set_entry(needs_emit_t *e, keel_attr_id_t *inout, const char *name,
                              keel_attr_id_t attr) KEEL_MUST_CHECK;
// The items of an array that are in the set; NONE if it is not an array of `all` items.
keel_status_t needs_keep_items(needs_emit_t *e, keel_attr_id_t array, const uint64_t *kept,
                               uint32_t all, keel_attr_id_t *out) KEEL_MUST_CHECK;
// The shardings of an operation's dictionary, for those of its results that are kept.
keel_status_t needs_keep_shardings(needs_emit_t *e, keel_attr_id_t *inout, const uint64_t *kept,
                                   uint32_t all) KEEL_MUST_CHECK;
// Drops Shardy's own text from the frontend attributes of that name if not all results are kept:
// all of them stand in it, and it is a hint.
keel_status_t needs_drop_texts(needs_emit_t *e, keel_attr_id_t *inout, const char *name,
                               const uint64_t *kept, uint32_t all) KEEL_MUST_CHECK;
// HLO: an OpSharding of a tuple.
keel_status_t needs_keep_sharding(needs_emit_t *e, keel_attr_id_t *inout, const char *name,
                                  const uint64_t *kept, uint32_t all) KEEL_MUST_CHECK;
// The dictionaries of arguments or results, for those that are kept, without what only says where
// they live.
keel_status_t needs_keep_dictionaries(needs_emit_t *e, keel_attr_id_t array, const uint64_t *kept,
                                      uint32_t all, keel_attr_id_t *out) KEEL_MUST_CHECK;

#endif // KEEL_NEEDS_EMIT_H_
