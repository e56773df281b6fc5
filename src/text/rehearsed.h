// rehearsed: sentences and JSON fields about a rehearsal.
#ifndef KEEL_TEXT_REHEARSED_H_
#define KEEL_TEXT_REHEARSED_H_

#include "base/json.h"
#include "run/run.h"

static inline bool keel_is_rehearsal(const keel_run_t *run) {
    return *run->rehearsal.target.name;
}

// "h200:8 (8 x NVIDIA H200, 141 GiB each)"
void keel_target_sentence(const keel_run_target_t *target, keel_buffer_t *out);
// "5 compiles 3.2 s, 1 refused": what became of them.
void keel_fates_sentence(const keel_run_t *run, keel_buffer_t *out);
// "fits: at most 3.1 GiB of the 141 GiB of a device, in jit_step (train.py:88)"; what is too large;
// or what is not known. Nothing if no program ran.
void keel_fit_sentence(const keel_run_t *run, keel_buffer_t *out);
// "jit_step (train.py:88) does not compile for h200:8: ...", "jit_step (train.py:88) could not be
// executed, 3 times: ..."; of a long message, the first line.
void keel_refusal_sentence(const keel_run_t *run, const keel_refusal_t *refusal, bool whole,
                           keel_buffer_t *out);
// "process 1 executes jit_step (train.py:88) 9 times, process 0 10 times: ..."
void keel_drift_sentence(const keel_run_t *run, const keel_drift_t *drift, keel_buffer_t *out);
// "train.py:88 reads what jit_step makes, 7 times"
void keel_unreal_sentence(const keel_unreal_t *unreal, keel_buffer_t *out);
// "train.py:88 reads what jit_step makes, which no device computed, and the loop at train.py:80
// ended in round 40 of 100: on a real h200:8 it may go on"
void keel_left_sentence(const keel_run_rehearsal_t *rehearsal, const keel_left_t *left,
                        keel_buffer_t *out);
// "2 lines read values that no device computed, as zeros: train.py:190 (jit_step), ..."
void keel_unreals_sentence(const keel_run_rehearsal_t *rehearsal, keel_buffer_t *out);
// "1 program has constants that no device computed: jit_loss (train.py:12)"; nothing if none has.
void keel_unreals_refused_sentence(const keel_run_rehearsal_t *rehearsal, keel_buffer_t *out);
void keel_unreal_constants_sentence(const keel_run_rehearsal_t *rehearsal, keel_buffer_t *out);

// "the programs' keys assume the machine's driver and memory limit; ..."; nothing if nothing was
// compiled, or nothing is assumed.
void keel_assumed_sentence(const keel_run_t *run, keel_buffer_t *out);

// "would have written 12 files, 3.2 GiB, below ckpt/"; nothing if nothing was written. Paths are
// shown from `folder` on.
void keel_written_sentence(const keel_journal_written_t *written, const char *folder,
                           keel_buffer_t *out);

// Lines of a run's summary, each with "keel: ": first what the client was refused, whatever it made
// of that; later the rest.
void keel_rehearsal_failures(const keel_run_t *run, keel_buffer_t *out);
void keel_rehearsal_summary(const keel_run_t *run, keel_buffer_t *out);
// Paragraphs of `keel why`: what was refused, what does not fit, what processes do not do together,
// and what the rehearsal does not show.
void keel_rehearsal_tell(const keel_run_t *run, bool all, unsigned width, keel_buffer_t *out);
// What it does not show: a head, and `told` with each of the first `most` sentences, which it
// takes. Returns how many there are.
bool keel_rehearsal_has_limits(const keel_run_t *run);
void keel_rehearsal_limits_head(const keel_run_t *run, keel_buffer_t *out);
size_t keel_rehearsal_limits(const keel_run_t *run, size_t most,
                             void (*told)(void *context, keel_buffer_t *text), void *context);
// The field "rehearsal" of a JSON object: null for another run.
void keel_rehearsal_json(const keel_run_t *run, keel_json_t *json);

#endif // KEEL_TEXT_REHEARSED_H_
