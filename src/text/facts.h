// facts: sentences and JSON fields for the parts of a run.
#ifndef KEEL_TEXT_FACTS_H_
#define KEEL_TEXT_FACTS_H_

#include "base/json.h"
#include "run/run.h"
#include "why/eager.h"
#include "why/why.h"

// A time in JSON, rounded to the microsecond; of compiles or loads, null if it is not known.
void keel_text_seconds(keel_json_t *json, const char *name, double seconds);
void keel_text_took(keel_json_t *json, const char *name, const keel_took_t *took);

// "10 times", over all lines
void keel_reads_times(const keel_reads_t *reads, keel_buffer_t *out);
// "a host read splits the step into 2 programs"
void keel_reads_sentence(const keel_reads_line_t *line, keel_buffer_t *out);
// What to do about a line; NULL: about all that cut. JAX has no such steps.
const char *keel_reads_advice(const keel_why_t *why, const keel_reads_line_t *line);
// "12 reads, 120 bytes, 0.3 s until the data arrived"
// The seconds of transfers; null if they took none that count.
void keel_text_moved(keel_json_t *json, const keel_moved_t *moved);
void keel_reads_moved(const keel_moved_t *moved, keel_buffer_t *out);

// "a sync in mid-step splits the step into 3 programs"
void keel_barrier_sentence(const keel_why_barrier_t *barrier, keel_buffer_t *out);

// "58 small programs ran one by one, outside jit, and cost 21.2 s, most at train.py:13"
void keel_eager_sentence(const keel_eager_lines_t *lines, keel_buffer_t *out);
// What to do about them.
const char *keel_eager_advice(void);
// " for train.py:35": the user's own line that led to one of an application; nothing without one.
void keel_script_write(const keel_run_place_t *asker, keel_buffer_t *out);
// "19 sizes of `tokens`, all before step 1: engine.py:30 (jit_prefill), 12.3 s"
void keel_set_sentence(const keel_why_set_t *set, keel_buffer_t *out);

// "sharding-retrace applied, torch_xla 2.9.0 (pytorch/xla 9755)".
void keel_fix_write(const keel_fix_t *fix, keel_buffer_t *out);
// The field "fixes" of a JSON object.
void keel_fixes_json(const keel_fixes_t *fixes, keel_json_t *json);

// What to do about an operation that was computed on the host.
const char *keel_host_op_advice(const char *name);

// A paragraph for each aside that `keel why` shows: compiles that do not fit, and operations that
// the host computed again and again; with `all`, every operation.
void keel_asides_tell(const keel_why_t *why, bool all, unsigned width, keel_buffer_t *out);
// "train.py:88 (jit_step) does not fit: it needs 256 GiB, there are 31.2 GiB".
void keel_misfit_sentence(const keel_misfit_t *misfit, keel_buffer_t *out);
// "2 programs could not be explained, jit_step the first: ..."
void keel_unexplained_sentence(const keel_asides_t *asides, keel_buffer_t *out);
// "3 programs were loaded from elsewhere, first jit_step at train.py:88 (JAX's own cache)"
void keel_elsewhere_sentence(const keel_asides_t *asides, keel_buffer_t *out);
// "Python compiles 904 modules (12 MiB) at each start because their bytecode is not kept: ..."
void keel_unkept_sentence(const keel_asides_t *asides, keel_buffer_t *out);
// "XLA_FLAGS was set too late to have an effect: xla_cpu_enable_fast_math=true"
void keel_late_sentence(const keel_asides_t *asides, keel_buffer_t *out);
// "the first 50000 compiles and loads are kept one by one; 7 more are in the totals only". Only of
// a run that is so long.
void keel_summed_sentence(const keel_run_t *run, keel_buffer_t *out);
// Fields "host_ops", "misfits", "unexplained", "loads_by_client" and "elsewhere".
void keel_asides_json(const keel_asides_t *asides, keel_json_t *json);

#endif // KEEL_TEXT_FACTS_H_
