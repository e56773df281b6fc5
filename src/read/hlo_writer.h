// hlo_writer: shared by the parts of the writer of HloModuleProto (read/write.h is for its users).
// Which fields there are is in hlo_schema.h; how a program holds them is in hlo_reader.h.
//
//   hlo_write.c           module, computations, instructions
//   hlo_write_fields.c    attributes -> fields
//   hlo_write_type.c      types -> shapes and layouts
//   hlo_write_literal.c   constants
//   hlo_write_location.c  locations -> metadata and stack frames
#ifndef KEEL_READ_HLO_WRITER_H_
#define KEEL_READ_HLO_WRITER_H_

#include "read/hlo_schema.h"

typedef struct keel_hlo_writer_t {
    const keel_program_t *program;
    keel_buffer_t *out;
    uint32_t first[KEEL_HLO_MESSAGE_COUNT + 1]; // index of a message's name in keel_hlo_fields
    unsigned depth;
    // The stack frames, in the order of their numbers, which start from 1; 0 in a table by
    // attribute or string: none yet.
    keel_buffer_t files, functions, places, frames;
    uint32_t file_count, function_count, place_count, frame_count;
    uint32_t *file_numbers, *function_numbers; // by string
    uint32_t *place_numbers, *frame_numbers;   // by attribute
    KEEL_TABLE(keel_attr_id_t) chain;          // frames without a number, from the inside out
} keel_hlo_writer_t;

// Enters one level of nesting; refuses if that is too deep, or if the buffer is full. Leave by
// --writer->depth.
keel_status_t keel_hlo_write_enter(keel_hlo_writer_t *writer) KEEL_MUST_CHECK;

// Writes one attribute that is not a plain field of its message, or refuses it with
// keel_hlo_no_attribute.
typedef keel_status_t keel_hlo_apart_t(void *context, keel_hlo_message_id_t message,
                                       keel_str_t name, keel_attr_id_t attr);
keel_status_t keel_hlo_no_attribute(const keel_hlo_writer_t *writer, keel_hlo_message_id_t message,
                                    keel_str_t name) KEEL_MUST_CHECK;
// The attributes of a DICT as fields of a message. What is not a plain field goes to `apart`; NULL
// refuses it.
keel_status_t keel_hlo_write_fields(keel_hlo_writer_t *writer, keel_hlo_message_id_t message,
                                    keel_attr_id_t dict, keel_hlo_apart_t *apart,
                                    void *context) KEEL_MUST_CHECK;
// A nested message.
keel_status_t keel_hlo_write_message(keel_hlo_writer_t *writer, uint32_t number,
                                     keel_hlo_message_id_t message,
                                     keel_attr_id_t dict) KEEL_MUST_CHECK;

keel_status_t keel_hlo_write_shape(keel_hlo_writer_t *writer, uint32_t number,
                                   keel_type_id_t type) KEEL_MUST_CHECK;
// XLA's number of an array's element type; 0 if it has none.
uint32_t keel_hlo_element_number(const keel_program_t *program, keel_type_id_t element);

keel_status_t keel_hlo_write_literal(keel_hlo_writer_t *writer, uint32_t number,
                                     keel_attr_id_t attr) KEEL_MUST_CHECK;

keel_status_t keel_hlo_start_frames(keel_hlo_writer_t *writer) KEEL_MUST_CHECK;
// The metadata of an instruction.
keel_status_t keel_hlo_write_location(keel_hlo_writer_t *writer,
                                      keel_attr_id_t location) KEEL_MUST_CHECK;
// The frames of all locations that were written.
keel_status_t keel_hlo_write_frames(keel_hlo_writer_t *writer) KEEL_MUST_CHECK;
void keel_hlo_finish_frames(keel_hlo_writer_t *writer);

#endif // KEEL_READ_HLO_WRITER_H_
