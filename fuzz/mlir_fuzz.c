// Arbitrary bytes: read, or refused with a status, within bounds. The program is walked as its
// users do, to find indices out of range, and written as text.
#include "read/read.h"
#include "read/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t touch(uint64_t sum, keel_str_t text) {
    for (size_t i = 0; i < text.size; i += 64)
        sum += (uint8_t)text.data[i];
    return sum;
}

static uint64_t walk_operation(const keel_program_t *p, keel_op_id_t op) {
    uint64_t sum = touch(0, keel_program_str(p, keel_program_op_name(p, op)->name));
    keel_list_t operands = keel_program_operands(p, op);
    for (uint32_t i = 0; i < operands.count; ++i)
        sum += p->types.data[p->value_types.data[operands.items[i]]].kind;
    const keel_operation_t *operation = &p->operations.data[op];
    if (operation->attributes != KEEL_NONE) {
        keel_list_t pairs = keel_program_list(p, p->attrs.data[operation->attributes].b);
        for (uint32_t i = 0; i < pairs.count; i += 2) {
            sum = touch(sum, keel_program_str(p, pairs.items[i]));
            sum += p->attrs.data[pairs.items[i + 1]].kind;
        }
    }
    keel_frame_t frames[4];
    keel_str_t name;
    keel_program_frames(p, operation->location, frames, 4, &name);
    keel_region_run_t regions = keel_program_regions(p, op);
    for (uint32_t i = 0; i < regions.count; ++i)
        for (uint32_t b = 0; b < regions.items[i].block_count; ++b)
            sum += p->blocks.data[regions.items[i].first_block + b].end_op;
    return touch(sum, name) + keel_program_next(p, op);
}

static uint64_t write(const keel_program_t *program) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 1 << 20);
    keel_status_t status = keel_write_mlir(program, &out);
    uint64_t size = out.size;
    if (status && size) __builtin_trap(); // it is unchanged
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_status_t status = keel_read_mlir(keel_bytes(data, size), &program);
    uint64_t sum = 0;
    for (keel_op_id_t op = 0; !status && op < keel_program_op_count(&program); ++op)
        sum += walk_operation(&program, op);
    if (!status) sum += write(&program);
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    static volatile uint64_t seen; // keeps the walk from being optimized away
    seen = sum;
    (void)seen;
    return 0;
}
