// Shardings that name axes of a mesh, in whichever spelling, and the tiles that they come to.
#ifndef KEEL_SIGNATURE_AXES_H_
#define KEEL_SIGNATURE_AXES_H_

#include "signature/signature.h"

// Field numbers and types of OpSharding.
enum {
    SHARDING_TYPE = 1,
    SHARDING_TILE_DIMS = 3,
    SHARDING_TILE_DEVICES = 4,
    SHARDING_TUPLE = 5,
    SHARDING_REPLICATE_LAST = 6,
    SHARDING_LAST_DIMS = 8,
    SHARDING_IOTA_RESHAPE = 9,
    SHARDING_IOTA_TRANSPOSE = 10,
    SHARDING_NAMED = 14,
};
enum {
    IS_REPLICATED = 0,
    IS_MAXIMAL = 1,
    IS_TUPLE = 2,
    IS_OTHER = 3,
    IS_MANUAL = 4,
    IS_UNREDUCED = 6,
};
enum { AXES_MOST = 64 };      // of a mesh, dimensions of a tile assignment, and parts of axes
enum { MESH_MOST = 1 << 20 }; // devices

typedef struct numbers_t {
    int64_t items[AXES_MOST];
    uint32_t count;
} numbers_t;

keel_status_t numbers_push(numbers_t *list, int64_t item) KEEL_MUST_CHECK;
// Appends a repeated number, packed or not. False if it is damaged or too long.
bool numbers_take(const keel_proto_field_t *field, numbers_t *list);

// Numbers from 0, as an array of some dimensions, transposed. Without dimensions: 0, 1, 2, ...
typedef struct iota_t {
    int64_t sizes[AXES_MOST], strides[AXES_MOST], at[AXES_MOST], next;
    int64_t all; // how many
    uint32_t count;
} iota_t;

// False if there is no such array.
bool iota_begin(const numbers_t *dims, const numbers_t *order, iota_t *out);
int64_t iota_next(iota_t *iota);

// Multiplies what counts devices, which are not that many; false if the product is none.
bool devices_multiply(int64_t *product, int64_t by);

// Also for IS_REPLICATED, which the wire could leave out, so that a sharding is never empty.
void sharding_put_type(keel_buffer_t *out, uint64_t type);
void sharding_put_packed(keel_buffer_t *out, uint32_t field, const int64_t *items, size_t count);

// What an array does with a part of an axis: cuts a dimension by it, or one of these.
enum { USE_MANUAL = AXES_MOST, USE_UNREDUCED };

// A part of an axis, "x":(2)4: of size 4, behind the first 2.
typedef struct axis_part_t {
    uint32_t axis, use;
    int64_t before, size;
} axis_part_t;

typedef struct axes_t {
    numbers_t sizes;        // of the mesh's axes, outermost first
    const int64_t *devices; // the mesh's own numbers, in its order; NULL: 0, 1, 2, ...
    size_t device_count;
    uint32_t rank;
    axis_part_t parts[AXES_MOST]; // a dimension's from major to minor
    uint32_t part_count;
} axes_t;

// Adds a part of an axis, or all of it: size 0. KEEL_UNSUPPORTED if the axis has no such part.
keel_status_t axes_use(axes_t *axes, axis_part_t part) KEEL_MUST_CHECK;
// Appends an OpSharding of tiles. KEEL_UNSUPPORTED if no tiles are like that.
keel_status_t axes_write(const axes_t *axes, keel_buffer_t *out) KEEL_MUST_CHECK;

// ---- named.c -----------------------------------------------------------------------------------

// Reads an sdy.sharding of the program.
keel_status_t named_read_sdy(const keel_program_t *program, keel_attr_id_t sharding,
                             axes_t *out) KEEL_MUST_CHECK;
// Reads a NamedShardingProto. *out_devices is what to free then.
keel_status_t named_read_proto(keel_bytes_t named, axes_t *out,
                               int64_t **out_devices) KEEL_MUST_CHECK;

#endif // KEEL_SIGNATURE_AXES_H_
