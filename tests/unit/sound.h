// What is true of every program that a reader hands over: each index is in its table, tables are in
// their order, and nothing is defined twice. For readers of damaged bytes, whose other answer is a
// status. Ends the process, so that tests without cmocka can use it too.
#ifndef KEEL_TESTS_SOUND_H_
#define KEEL_TESTS_SOUND_H_

#include <stdio.h>
#include <stdlib.h>

#include "program/program.h"

static inline void sound_check(bool holds, const char *what, uint64_t at) {
    if (holds) return;
    fprintf(stderr, "a program that is not sound: %s, at %llu\n", what, (unsigned long long)at);
    abort();
}

static inline void sound_index(uint32_t index, uint32_t count, const char *what, uint64_t at) {
    sound_check(index < count, what, at);
}

static inline void sound_index_or_none(uint32_t index, uint32_t count, const char *what,
                                       uint64_t at) {
    sound_check(index == KEEL_NONE || index < count, what, at);
}

// A list in the pool, each item of which is an index below `most`.
static inline keel_list_t sound_list(const keel_program_t *p, uint32_t offset, uint32_t most,
                                     const char *what, uint64_t at) {
    sound_index_or_none(offset, p->pool.count, what, at);
    keel_list_t list = keel_program_list(p, offset);
    sound_check(!list.items || list.count < p->pool.count - offset, what, at);
    for (uint32_t i = 0; i < list.count; ++i)
        sound_index(list.items[i], most, what, at);
    return list;
}

static inline void sound_ints(const keel_program_t *p, uint32_t offset, const char *what,
                              uint64_t at) {
    sound_index(offset, p->ints.count, what, at);
    int64_t count = p->ints.data[offset];
    sound_check(count >= 0 && count < (int64_t)p->ints.count - offset, what, at);
}

static inline void sound_strings(const keel_program_t *p) {
    for (uint32_t i = 0; i < p->strings.count; ++i) {
        keel_slice_t slice = p->strings.data[i];
        uint64_t size = slice.at & KEEL_IN_TEXT ? p->text.count : p->source.size;
        uint64_t begin = slice.at & ~KEEL_IN_TEXT;
        sound_check(begin + slice.size <= size, "a string beyond its bytes", i);
    }
    for (uint32_t i = 0; i < p->op_names.count; ++i) {
        sound_index(p->op_names.data[i].dialect, p->strings.count, "a dialect", i);
        sound_index(p->op_names.data[i].name, p->strings.count, "a name of operations", i);
    }
}

static inline void sound_type(const keel_program_t *p, uint32_t i) {
    const keel_type_t *type = &p->types.data[i];
    uint32_t types = p->types.count, attrs = p->attrs.count;
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
            sound_check(type->aux <= KEEL_UNSIGNED, "a sign", i);
            break;
        case KEEL_TYPE_FLOAT:
            sound_index(type->a, KEEL_FLOAT_COUNT, "a float", i);
            break;
        case KEEL_TYPE_TENSOR:
        case KEEL_TYPE_BUFFER:
            sound_ints(p, type->b, "dimensions", i);
            sound_index_or_none(type->c, attrs, "an encoding", i);
            sound_index(type->a, types, "an element", i);
            break;
        case KEEL_TYPE_COMPLEX:
        case KEEL_TYPE_UNRANKED_TENSOR:
            sound_index(type->a, types, "an element", i);
            break;
        case KEEL_TYPE_TUPLE:
            sound_index_or_none(type->c, attrs, "a layout", i); // fall through
        case KEEL_TYPE_FUTURE:
            sound_list(p, type->b, types, "types of a tuple", i);
            break;
        case KEEL_TYPE_FUNCTION:
            sound_list(p, type->b, types, "types of arguments", i);
            sound_list(p, type->c, types, "types of results", i);
            break;
        case KEEL_TYPE_QUANTIZED:
            sound_index(type->a, types, "a storage type", i);
            sound_index(type->b, types, "an expressed type", i);
            sound_index(type->c, attrs, "a quantization", i);
            break;
        default:
            sound_check(type->kind <= KEEL_TYPE_QUANTIZED, "a kind of type", i);
    }
}

static inline void sound_dict(const keel_program_t *p, const keel_attr_t *attr, uint32_t i) {
    sound_index(attr->klass, KEEL_RECORD_COUNT, "a record", i);
    sound_index(attr->b, p->pool.count, "a dictionary", i);
    keel_list_t pairs = keel_program_list(p, attr->b);
    sound_check(pairs.count < p->pool.count - attr->b && pairs.count % 2 == 0, "a dictionary", i);
    for (uint32_t k = 0; k < pairs.count; k += 2) {
        sound_index(pairs.items[k], p->strings.count, "a name in a dictionary", i);
        sound_index(pairs.items[k + 1], p->attrs.count, "a value in a dictionary", i);
    }
}

static inline void sound_location(const keel_program_t *p, uint32_t id, uint64_t at) {
    if (id == KEEL_NONE) return;
    sound_index(id, p->attrs.count, "a location", at);
    sound_check(keel_attr_is_location(p->attrs.data[id].kind), "a location that is none", at);
}

static inline void sound_attr(const keel_program_t *p, uint32_t i) {
    const keel_attr_t *attr = &p->attrs.data[i];
    uint32_t types = p->types.count, attrs = p->attrs.count, strings = p->strings.count;
    switch (attr->kind) {
        case KEEL_ATTR_BOOL:
            sound_check(attr->a <= 1, "a condition", i);
            break;
        case KEEL_ATTR_INT:
            sound_index_or_none(attr->a, types, "a number's type", i);
            sound_index(attr->b, p->ints.count, "a number", i);
            break;
        case KEEL_ATTR_WIDE_INT:
            sound_index(attr->a, types, "a number's type", i); // fall through
        case KEEL_ATTR_INTS:
            sound_ints(p, attr->b, "numbers", i);
            break;
        case KEEL_ATTR_FLOAT:
            sound_index(attr->a, types, "a number's type", i);
            sound_index(attr->b, p->ints.count, "a number", i);
            break;
        case KEEL_ATTR_STRING:
            sound_index(attr->a, strings, "a text", i);
            sound_index_or_none(attr->b, types, "a text's type", i);
            break;
        case KEEL_ATTR_TYPE:
            sound_index(attr->a, types, "a type", i);
            break;
        case KEEL_ATTR_ENUM:
            sound_index(attr->klass, KEEL_ENUM_CLASS_COUNT, "an enumeration", i);
            sound_check(keel_enum_name(attr->klass, attr->a), "a value of an enumeration", i);
            break;
        case KEEL_ATTR_ARRAY:
            sound_list(p, attr->b, attrs, "items", i);
            break;
        case KEEL_ATTR_DICT:
            sound_dict(p, attr, i);
            break;
        case KEEL_ATTR_SYMBOL:
            sound_index(attr->a, strings, "a symbol", i);
            sound_list(p, attr->b, attrs, "a nested symbol", i);
            break;
        case KEEL_ATTR_TENSOR:
        case KEEL_ATTR_DENSE_ARRAY:
            sound_index(attr->a, types, "a tensor's type", i);
            sound_index(attr->b, p->blobs.count, "a tensor's bytes", i);
            break;
        case KEEL_ATTR_STRINGS:
            sound_index(attr->a, types, "a tensor's type", i);
            sound_list(p, attr->b, strings, "texts", i);
            break;
        case KEEL_ATTR_SPARSE:
            sound_index(attr->a, types, "a tensor's type", i);
            sound_check(sound_list(p, attr->b, attrs, "a sparse tensor", i).count == 2, "its parts",
                        i);
            break;
        case KEEL_ATTR_DISTINCT:
            sound_index(attr->a, attrs, "what is distinct", i);
            break;
        case KEEL_ATTR_BYTES:
            sound_index(attr->a, strings, "a name of bytes", i);
            sound_index(attr->b, p->blobs.count, "bytes", i);
            break;
        case KEEL_ATTR_LOC_FILE:
            sound_index(attr->a, strings, "a file", i);
            sound_check(sound_list(p, attr->b, KEEL_NONE, "lines", i).count <= 4, "lines", i);
            break;
        case KEEL_ATTR_LOC_NAME:
            sound_index(attr->a, strings, "a location's name", i);
            sound_location(p, attr->b, i);
            break;
        case KEEL_ATTR_LOC_CALLSITE:
            sound_location(p, attr->a, i);
            sound_location(p, attr->b, i);
            break;
        case KEEL_ATTR_LOC_FUSED: {
            sound_index_or_none(attr->a, attrs, "metadata", i);
            keel_list_t list = sound_list(p, attr->b, attrs, "fused locations", i);
            for (uint32_t k = 0; k < list.count; ++k)
                sound_location(p, list.items[k], i);
            break;
        }
        default:
            sound_check(attr->kind <= KEEL_ATTR_LOC_FUSED, "a kind of attribute", i);
    }
}

// Operands and results lie behind one another; the sentinel ends them.
static inline void sound_operations(const keel_program_t *p) {
    uint32_t count = keel_program_op_count(p), values = p->value_types.count;
    uint64_t operands = 0, results = 0;
    for (uint32_t i = 0; i < p->operations.count; ++i) {
        const keel_operation_t *op = &p->operations.data[i];
        sound_check(op->first_operand >= operands, "operands out of order", i);
        sound_check(op->first_result >= results, "results out of order", i);
        operands = op->first_operand;
        results = (uint64_t)op->first_result + op->result_count;
        sound_check(operands <= p->operands.count && results <= values, "beyond the values", i);
        sound_location(p, op->location, i);
        sound_index_or_none(op->attributes, p->attrs.count, "attributes", i);
        sound_check(op->attributes == KEEL_NONE ||
                        p->attrs.data[op->attributes].kind == KEEL_ATTR_DICT,
                    "attributes that are not a dictionary", i);
        if (i < count)
            sound_index(op->name & ~(unsigned)KEEL_OP_HAS_REGIONS, p->op_names.count, "a name", i);
    }
    sound_check(!p->operations.count || operands == p->operands.count, "operands left over", count);
    for (uint32_t i = 0; i < p->operands.count; ++i)
        sound_index(p->operands.data[i], values, "an operand", i);
    for (uint32_t i = 0; i < values; ++i)
        sound_index(p->value_types.data[i], p->types.count, "a value's type", i);
}

static inline void sound_regions(const keel_program_t *p) {
    uint32_t count = keel_program_op_count(p), values = p->value_types.count;
    for (uint32_t i = 0; i < p->regions.count; ++i) {
        const keel_region_t *region = &p->regions.data[i];
        sound_index_or_none(region->parent, count, "a region's operation", i);
        sound_check(region->end <= count, "a region's end", i);
        sound_check((uint64_t)region->first_block + region->block_count <= p->blocks.count,
                    "a region's blocks", i);
        if (region->parent == KEEL_NONE) continue;
        sound_check(region->end > region->parent, "a region before its operation", i);
        sound_check(p->operations.data[region->parent].name & KEEL_OP_HAS_REGIONS,
                    "a region that its operation does not know of", i);
        const keel_region_t *last = i ? region - 1 : NULL;
        sound_check(!last || last->parent == KEEL_NONE || last->parent <= region->parent,
                    "regions out of order", i);
    }
    for (uint32_t i = 0; i < p->blocks.count; ++i) {
        const keel_block_t *block = &p->blocks.data[i];
        sound_check(block->first_op <= block->end_op && block->end_op <= count, "a block", i);
        sound_check((uint64_t)block->first_argument + block->argument_count <= values,
                    "a block's arguments", i);
        if (block->argument_locations == KEEL_NONE) continue;
        sound_check((uint64_t)block->argument_locations + block->argument_count <= p->pool.count,
                    "locations of arguments", i);
        for (uint32_t k = 0; k < block->argument_count; ++k)
            sound_location(p, keel_program_argument_location(p, block, k), i);
    }
}

static inline void sound_functions(const keel_program_t *p) {
    uint32_t count = keel_program_op_count(p), values = p->value_types.count;
    for (uint32_t i = 0; i < p->functions.count; ++i) {
        const keel_function_t *f = &p->functions.data[i];
        sound_index(f->name, p->strings.count, "a function's name", i);
        sound_index_or_none(f->operation, count, "a function's operation", i);
        sound_index(f->region, p->regions.count, "a function's region", i);
        sound_index_or_none(f->type, p->types.count, "a function's type", i);
        sound_index_or_none(f->argument_attributes, p->attrs.count, "attributes of arguments", i);
        sound_index_or_none(f->result_attributes, p->attrs.count, "attributes of results", i);
        sound_index_or_none(f->attributes, p->attrs.count, "a function's attributes", i);
        sound_check(f->first_value <= f->end_value && f->end_value <= values, "its values", i);
        sound_index_or_none(f->root, count, "a root", i);
        sound_check((f->root != KEEL_NONE) == (p->format == KEEL_FORMAT_HLO), "a root", i);
    }
    sound_index_or_none(p->entry, p->functions.count, "the entry", 0);
    sound_index_or_none(p->name, p->strings.count, "the module's name", 0);
    sound_index_or_none(p->attributes, p->attrs.count, "the module's attributes", 0);
}

static inline void sound(const keel_program_t *p) {
    sound_strings(p);
    for (uint32_t i = 0; i < p->types.count; ++i)
        sound_type(p, i);
    for (uint32_t i = 0; i < p->attrs.count; ++i)
        sound_attr(p, i);
    sound_operations(p);
    sound_regions(p);
    sound_functions(p);
}

#endif // KEEL_TESTS_SOUND_H_
