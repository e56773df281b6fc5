// What a key means: every part of an operation counts, and a program that is written with the same
// bytes but is divided differently has a key of its own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "key_differ.h"

static void set_name(build_t *b, keel_op_id_t op, uint16_t name) {
    b->program.operations.data[op].name = name;
}

// Three operations of which the one in the middle is changed.
static bool computes(build_t *b, unsigned n) {
    keel_type_id_t f = f32(b), i = integer(b, 32, KEEL_SIGNLESS);
    b->program.entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
    keel_value_id_t x = argument_of(b, b->program.entry);
    keel_value_id_t before = add_op(b, (op_t){"sine", KEEL_NONE, f, {x}, 1});
    keel_value_id_t own = before + 1, after = own + 1;
    op_t op = {"add", KEEL_NONE, f, {before, x}, 2};
    keel_op_id_t at = b->program.operations.count;
    switch (n) {
        case 0:
            break;
        case 1:
            op.operands[1] = before;
            break;
        case 2:
            op.operands[0] = x, op.operands[1] = before;
            break;
        case 3:
            op.operands[0] = after;
            break;
        case 4:
            op.operands[0] = own;
            break; // further on: as far as `x` is back
        case 5:
            op.operand_count = 1;
            break;
        case 6:
            op.operand_count = 0;
            break;
        case 7:
            op.name = "multiply";
            break;
        case 8:
            op.type = i;
            break;
        case 9:
            op.type = KEEL_NONE;
            break;
        case 10:
            op.attributes = DICT(b, {"v", string_attr(b, "x")});
            break;
        case 11:
            op.operands[2] = x, op.operand_count = 3;
            break;
        default:
            break;
    }
    add_op(b, op);
    if (n == 20) b->program.operands.data[b->program.operands.count - 2] = x;
    if (n == 12) set_name(b, at, op_name(b, "vhlo", "add", 2));
    if (n == 13) set_name(b, at, op_name(b, "chlo", "added", 1));
    if (n == 14) set_name(b, at, op_name(b, "vhloadd", "ed", 1));
    if (n == 15) set_name(b, at, op_name(b, "vhlo", "added", 1));
    if (n == 16) b->program.operations.data[at].result_count = 2, new_value(b, f);
    if (n == 17) b->program.operations.data[at].result_count = 2, new_value(b, i);
    if (n == 18) b->program.operations.data[at].result_count = 3, new_value(b, f), new_value(b, i);
    if (n == 19) b->program.operations.data[at].result_count = 3, new_value(b, i), new_value(b, f);
    add_op(b, (op_t){"cosine", KEEL_NONE, f, {x}, 1});
    end_function(b, b->program.entry);
    return n < 21;
}

// An operation whose regions, blocks and their contents are changed; those of n = 0: {{sine}
// {cosine}}.
static bool nests(build_t *b, unsigned n) {
    static const struct {
        unsigned regions;
        unsigned blocks[3]; // of each region
        unsigned operations[3];
        unsigned arguments[3];
    } shapes[] = {
        {2, {1, 1}, {1, 1}, {0, 0}}, {2, {1, 1}, {2, 0}, {0, 0}}, {2, {1, 1}, {0, 2}, {0, 0}},
        {1, {2}, {1, 1}, {0, 0}},    {1, {2}, {2, 0}, {0, 0}},    {1, {1}, {2}, {0}},
        {3, {1, 1, 1}, {1, 1}, {0}}, {2, {1, 1}, {1, 1}, {1, 0}}, {2, {1, 1}, {1, 1}, {0, 1}},
        {2, {1, 1}, {1, 1}, {2, 0}}, {2, {0, 2}, {1, 1}, {0, 0}}, {2, {2, 0}, {1, 1}, {0, 0}},
        {3, {1, 0, 1}, {1, 1}, {0}}, {0, {0}, {0}, {0}},          {1, {0}, {0}, {0}},
    };
    if (n >= sizeof shapes / sizeof *shapes) return false;
    keel_program_t *p = &b->program;
    keel_type_id_t f = f32(b);
    p->entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
    keel_value_id_t x = argument_of(b, p->entry);
    keel_op_id_t parent = p->operations.count;
    add_op(b, (op_t){"case", KEEL_NONE, f, {x}, 1});
    p->operations.data[parent].name |= KEEL_OP_HAS_REGIONS;
    unsigned block = 0, total = 0;
    for (unsigned r = 0; r < shapes[n].regions; ++r) {
        MUST(keel_table_reserve(&p->regions, 1));
        uint32_t region = p->regions.count++;
        p->regions.data[region] = (keel_region_t){
            .parent = parent, .first_block = p->blocks.count, .block_count = shapes[n].blocks[r]};
        for (unsigned k = 0; k < shapes[n].blocks[r]; ++k, ++block) {
            MUST(keel_table_reserve(&p->blocks, 1));
            keel_block_t made = {.first_op = p->operations.count,
                                 .first_argument = b->values,
                                 .argument_count = shapes[n].arguments[block],
                                 .argument_locations = KEEL_NONE};
            for (unsigned i = 0; i < made.argument_count; ++i)
                new_value(b, f);
            for (unsigned i = 0; i < shapes[n].operations[block]; ++i)
                add_op(b, (op_t){total++ ? "cosine" : "sine", KEEL_NONE, f, {x}, 1});
            made.end_op = p->operations.count;
            p->blocks.data[p->blocks.count++] = made;
        }
        p->regions.data[region].end = p->operations.count;
    }
    end_function(b, p->entry);
    return true;
}

// Adds an operation of so many regions, each of so many blocks, of which none holds anything.
static void add_empty(build_t *b, keel_type_id_t type, uint32_t count, const uint32_t *blocks) {
    keel_program_t *p = &b->program;
    keel_op_id_t parent = p->operations.count;
    add_op(b, (op_t){"case", KEEL_NONE, type, {0}, 0});
    p->operations.data[parent].name |= KEEL_OP_HAS_REGIONS;
    for (uint32_t r = 0; r < count; ++r) {
        MUST(keel_table_reserve(&p->regions, 1));
        p->regions.data[p->regions.count++] = (keel_region_t){.parent = parent,
                                                              .first_block = p->blocks.count,
                                                              .block_count = blocks[r],
                                                              .end = parent + 1};
        for (uint32_t k = 0; k < blocks[r]; ++k) {
            MUST(keel_table_reserve(&p->blocks, 1));
            p->blocks.data[p->blocks.count++] = (keel_block_t){.first_op = parent + 1,
                                                               .end_op = parent + 1,
                                                               .first_argument = b->values,
                                                               .argument_locations = KEEL_NONE};
        }
    }
}

// What an operand is that is written as `back` results before the operation: those of operations
// count, a function's arguments and those of blocks do not.
static keel_value_id_t before(const build_t *b, int64_t back) {
    const keel_program_t *p = &b->program;
    int64_t results = p->functions.data[p->entry].first_value;
    for (uint32_t i = 0; i < p->operations.count; ++i)
        results += p->operations.data[i].result_count;
    return (keel_value_id_t)(results - back);
}

// The operand that is written as this byte.
static keel_value_id_t written_as(const build_t *b, unsigned byte) {
    return before(b, byte % 2 ? -(int64_t)(byte + 1) / 2 : byte / 2);
}

// The first operations of different shapes, which are then numbered 2, 3, ...; the last of them.
static const char *add_shapes(build_t *b, keel_type_id_t type, unsigned count, unsigned operands) {
    static const char *const names[] = {"sine", "cosine", "tan", "abs", "exponential", "log"};
    assert_in_range(count, 1, sizeof names / sizeof *names);
    keel_value_id_t x = argument_of(b, b->program.entry);
    for (unsigned i = 0; i < count; ++i)
        add_op(b, (op_t){names[i], KEEL_NONE, type, {x, x, x, x}, operands});
    return names[count - 1];
}

// An operation of one region, another one, and an operation of two regions; or the other way round.
// The second region is written as the other operation is: two blocks with nothing in them, and the
// second shape with four operands that were not met yet.
static bool divides_regions(build_t *b, unsigned n) {
    static const uint32_t one[] = {1}, two[] = {1, 2};
    keel_type_id_t f = f32(b);
    b->program.entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
    const char *name = add_shapes(b, f, 1, 4);
    add_empty(b, f, n ? 2 : 1, n ? two : one);
    if (n == 1) add_empty(b, f, 1, one);
    keel_value_id_t own = before(b, 0);
    add_op(b, (op_t){name, KEEL_NONE, f, {own, own, own, own}, 4});
    if (n == 0) add_empty(b, f, 2, two);
    end_function(b, b->program.entry);
    return n < 2;
}

// The same for a block with two arguments and a block without: the types of the arguments are
// written as an operation of one operand is, if its shape has the number of the type, whichever
// that is.
static bool divides_arguments(build_t *b, unsigned n) {
    static const uint32_t one[] = {1};
    keel_type_id_t f = f32(b);
    unsigned number = 2 + n / 2;
    if (n == 12) return false;
    b->program.entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
    const char *name = add_shapes(b, f, number - 1, 1);
    for (unsigned i = 0; i < 2; ++i) {
        add_empty(b, f, 1, one);
        if (i == n % 2)
            add_op(b, (op_t){name, KEEL_NONE, f, {written_as(b, number)}, 1});
        else
            b->program.blocks.data[b->program.blocks.count - 1].argument_count = 2;
    }
    // Values of arguments are the last ones, so that operations count alike.
    for (uint32_t i = 1; i < b->program.blocks.count; ++i)
        for (uint32_t k = 0; k < b->program.blocks.data[i].argument_count; ++k) {
            keel_value_id_t value = new_value(b, f);
            if (!k) b->program.blocks.data[i].first_argument = value;
        }
    end_function(b, b->program.entry);
    return true;
}

// Three results and no operand, and an operation of the first shape; or two results and the
// operands that are written as the third type's number, no operand, and that operation.
static bool divides_results(build_t *b, unsigned n) {
    keel_type_id_t f = f32(b);
    unsigned number = 3 + n / 2; // of the type
    if (n == 8) return false;
    b->program.entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
    const char *name = add_shapes(b, f, 1, number - 2);
    for (unsigned i = 0; i < 2; ++i) {
        keel_op_id_t op = b->program.operations.count;
        bool is_wide = i == n % 2;
        keel_value_id_t own = before(b, 0);
        op_t split = {"split", KEEL_NONE, f, {own, written_as(b, 2), own, own, own, own}, number};
        if (is_wide) split.operand_count = 0;
        add_op(b, split);
        for (unsigned k = 1; k < (is_wide ? 3 : 2); ++k)
            new_value(b, f);
        b->program.operations.data[op].result_count = is_wide ? 3 : 2;
        own = before(b, 0);
        if (is_wide) add_op(b, (op_t){name, KEEL_NONE, f, {own, own, own, own}, number - 2});
    }
    end_function(b, b->program.entry);
    return true;
}

static void every_part_of_an_operation_counts(void **state) {
    (void)state;
    assert_all_differ(computes, 21);
    assert_all_differ(nests, 15);
    assert_all_differ(divides_regions, 2);
    assert_all_differ(divides_arguments, 12);
    assert_all_differ(divides_results, 8);
}

// More kinds of operations than one table of shapes holds, each used twice, the last one changed.
static bool has_many_shapes(build_t *b, unsigned n) {
    keel_type_id_t f = f32(b);
    b->program.entry = begin_function(b, (fn_t){"main", f, KEEL_NONE, true});
    keel_value_id_t x = argument_of(b, b->program.entry);
    for (unsigned i = 0; i < 1400; ++i) {
        unsigned number = i % 700;
        if (n == 1 && i == 1399) number = 698;
        if (n == 2 && i == 1399) number = 700;
        if (n == 3 && i == 699) number = 700;
        x = add_op(b, (op_t){"add", DICT(b, {"v", int_attr(b, number)}), f, {x, x}, 2});
    }
    end_function(b, b->program.entry);
    return n < 4;
}

// Functions that together have more of them than one table holds, though none does alone.
static bool has_many_functions(build_t *b, unsigned n) {
    keel_type_id_t f = f32(b);
    static const char *const names[] = {"main", "a", "b", "c", "d"};
    for (unsigned i = 0; i < 5; ++i) {
        uint32_t function = begin_function(b, (fn_t){names[i], f, KEEL_NONE, !i});
        keel_value_id_t x = argument_of(b, function);
        if (!i) b->program.entry = function;
        for (unsigned k = 0; k < 250; ++k) {
            unsigned number = 250 * i + k + (n && i == n - 1 && k == 249 ? 2000 : 0);
            x = add_op(b, (op_t){"add", DICT(b, {"v", int_attr(b, number)}), f, {x, x}, 2});
        }
        end_function(b, function);
    }
    return n < 6;
}

static void the_number_of_shapes_changes_nothing(void **state) {
    (void)state;
    assert_all_differ(has_many_shapes, 4);
    assert_all_differ(has_many_functions, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_an_operation_counts),
        cmocka_unit_test(the_number_of_shapes_changes_nothing),
    };
    return cmocka_run_group_tests_name("key_operations", tests, NULL, NULL);
}
