// write: words that people read, for the files of this room and the commands.
#ifndef KEEL_TEXT_WRITE_H_
#define KEEL_TEXT_WRITE_H_

#include "run/run.h"

// Text from a foreign file, safe for a terminal.
void keel_write_foreign(keel_buffer_t *out, const char *text);
void keel_write_foreign_str(keel_buffer_t *out, keel_str_t text);
void keel_write_seconds(keel_buffer_t *out, double value);
// "3.2 s", "at least 3.2 s"; "-" if nothing is known.
void keel_write_took(keel_buffer_t *out, const keel_took_t *took);
// " cost 3.2 s", " cost at least 3.2 s"; nothing if nothing is known.
void keel_write_cost(keel_buffer_t *out, const keel_took_t *took);
// The same for a column: "3.2 s", "> 3.2 s", "-".
void keel_format_took(const keel_took_t *took, char out[32]);
// "step 3", "steps 3-17"; "after step 9" if the process ended before the last of them.
void keel_format_steps(uint64_t first, uint64_t last, bool at_end, char out[48]);
void keel_write_size(keel_buffer_t *out, uint64_t bytes);
// "1 compile", "2 compiles".
void keel_write_counted(keel_buffer_t *out, uint64_t count, const char *noun);
// "run 20261121-134502-0a51c3f2  python train.py" and a newline.
void keel_write_run(keel_buffer_t *out, const keel_run_t *run);
// As keel_text_damage.
void keel_write_damage(keel_buffer_t *out, const char *path, const keel_journal_damage_t *damage);

#endif // KEEL_TEXT_WRITE_H_
