// Findings that follow from the steps and the bundle.
#include <stdio.h>
#include <string.h>

#include "bundle/versions.h"
#include "probe/internal.h"

// What went wrong in a step, in one line.
static const char *describe_failure(const keel_probe_outcome_t *outcome, char out[768]) {
    bool of_plugin =
        outcome->state == KEEL_PROBE_FAILED && strncmp(outcome->message, "PJRT_", 5) == 0;
    int size = snprintf(out, 768, "%s%s%.480s", of_plugin ? outcome->code : "",
                        of_plugin ? ": " : "", outcome->message);
    // A plugin's error already says everything.
    if (*outcome->said && outcome->state != KEEL_PROBE_FAILED && size > 0 && size < 700)
        snprintf(out + size, 768 - (size_t)size, " (it said: %.200s)", outcome->said);
    return out;
}

// ---- versions ----------------------------------------------------------------------------------

static void judge_versions(keel_probe_t *probe) {
    for (size_t i = 0; i <= keel_bundle_client_count(); ++i) {
        keel_bundle_verdict_t verdict;
        if (i)
            keel_bundle_judge_client(&probe->bundle, i - 1, !probe->is_tpu, &verdict);
        else
            keel_bundle_judge_plugin(&probe->bundle, &verdict);
        bool impossible = verdict.support == KEEL_BUNDLE_IMPOSSIBLE;
        // What is wrong with the plugin itself follows from its steps.
        if (!*verdict.text || (!i && (impossible || verdict.support == KEEL_BUNDLE_UNKNOWN)))
            continue;
        keel_probe_add(probe, KEEL_PROBE_VERSION_GATE,
                       impossible ? KEEL_PROBE_LIMPING : KEEL_PROBE_ALIVE,
                       "see docs/compatibility.md for the tested versions; `keel bundle` shows "
                       "what is installed",
                       "%s", verdict.text);
    }
}

// ---- steps -------------------------------------------------------------------------------------

#define REPORT "report it to the plugin's maintainers, with the output of `keel probe --json`"
#define NOTHING_KEPT                                                                               \
    "expect a compile of each program in each process; Keel still explains recompiles, and its "   \
    "memory tier serves each process. A newer plugin may do better"
#define NO_RELOADS "set KEEL_MODE=off for this plugin, so that nothing is serialized or reloaded"

// How a step went wrong; the last two, in place of these, for a TPU's client without a TPU.
enum { FAILED = 1, ENDED = 2, HUNG = 4, ANY = 7, COMPILES = 8, NO_TPU = 16 };

// What follows when a step went wrong: the first row of the step that fits. Step, how, the error's
// code or a part of its message (NULL: any), label, weight, text before the failure, next step.
#define ROWS(X)                                                                                    \
    X(LOAD, HUNG, NULL, BACKEND_DEFECT, DEAD, "loading the plugin does not finish: ",              \
      "if its disk is slow, give it more time with --timeout; otherwise see what it waits for "    \
      "with `gdb -p` or `strace -p` while it loads")                                               \
    X(LOAD, ENDED, NULL, BACKEND_DEFECT, DEAD, "loading the plugin ends the process: ",            \
      "check with `ldd` that no library is missing, and reinstall it")                             \
    X(LOAD, FAILED, "unsupported", VERSION_GATE, DEAD, "",                                         \
      "use a plugin of a version that Keel supports")                                              \
    X(LOAD, FAILED, NULL, LAUNCH_POLICY, DEAD, "",                                                 \
      "name a PJRT plugin: `keel probe PLUGIN`, KEEL_PLUGIN, or plugin in the config file")        \
    X(CLIENT, COMPILES, NULL, LAUNCH_POLICY, LIMPING,                                              \
      "no TPU here, but compiling for one (" PROBE_TOPOLOGY ") works; making a client: ",          \
      "compile for a TPU here and run on a machine that has one; to run here, choose another "     \
      "plugin with --plugin")                                                                      \
    X(CLIENT, NO_TPU, NULL, LAUNCH_POLICY, DEAD,                                                   \
      "no TPU here, and compiling for one does not work either; making a client: ",                \
      "run on a machine with a TPU, or choose another plugin with --plugin")                       \
    X(CLIENT, ANY, "already in use", LAUNCH_POLICY, DEAD,                                          \
      "another process uses the device: ", "end the process that uses the device, or wait for it") \
    X(CLIENT, ANY, NULL, BACKEND_DEFECT, DEAD, "the plugin cannot make a client: ",                \
      "check that the device and its driver are present and free; the message is the plugin's "    \
      "own")                                                                                       \
    X(DEVICES, ANY, NULL, BACKEND_DEFECT, DEAD, "its devices cannot be read: ", REPORT)            \
    X(COMPILE, ANY, NULL, BACKEND_DEFECT, DEAD, "a small program does not compile: ", REPORT)      \
    X(RUN, ANY, NULL, BACKEND_DEFECT, DEAD, "a small program gives wrong results or fails: ",      \
      "do not train on this plugin; install another build")                                        \
    X(AGAIN, ANY, NULL, BACKEND_DEFECT, DEAD,                                                      \
      "a reloaded executable does not behave like the compiled one: ", NO_RELOADS)                 \
    X(LAST, ANY, NULL, BACKEND_DEFECT, LIMPING,                                                    \
      "the last device cannot compile and run: ", "train on fewer devices, or fix that one")       \
    X(OLDER, ANY, NULL, VERSION_GATE, LIMPING,                                                     \
      "a client as old as torch_xla 2.9 cannot run a program here, even with Keel's bridge: ",     \
      "use a client as new as the plugin")                                                         \
    X(SERIALIZE, ENDED | HUNG, NULL, BACKEND_DEFECT, LIMPING,                                      \
      "serializing an executable crashes or hangs: ", NO_RELOADS)                                  \
    X(RELOAD, ENDED | HUNG, NULL, BACKEND_DEFECT, LIMPING,                                         \
      "loading an executable crashes or hangs: ", NO_RELOADS)                                      \
    X(SERIALIZE, FAILED, NULL, BACKEND_DEFECT, LIMPING,                                            \
      "executables cannot be kept, because they do not serialize: ", NOTHING_KEPT)                 \
    X(RELOAD, FAILED, NULL, BACKEND_DEFECT, LIMPING,                                               \
      "executables cannot be kept, because they do not load again: ", NOTHING_KEPT)

static const struct {
    keel_probe_step_t step;
    unsigned how;
    const char *word;
    keel_probe_label_t label;
    keel_probe_verdict_t weight;
    const char *text, *next;
} rows[] = {
#define ROW(step, how, word, label, weight, ...)                                                   \
    {KEEL_PROBE_##step, how, word, KEEL_PROBE_##label, KEEL_PROBE_##weight, __VA_ARGS__},
    ROWS(ROW)
#undef ROW
};

static unsigned how_it_went(const keel_probe_t *probe, keel_probe_step_t step) {
    if (step == KEEL_PROBE_CLIENT && probe->is_tpu && !probe->has_tpu)
        return probe->steps[KEEL_PROBE_ELSEWHERE].state == KEEL_PROBE_OK ? COMPILES : NO_TPU;
    keel_probe_state_t state = probe->steps[step].state;
    return state == KEEL_PROBE_FAILED ? FAILED : state == KEEL_PROBE_HUNG ? HUNG : ENDED;
}

static void judge_steps(keel_probe_t *probe) {
    bool done[KEEL_PROBE_STEP_COUNT] = {false};
    char text[768];
    // The compiled one was wrong already, so reloading is not to blame.
    done[KEEL_PROBE_AGAIN] = keel_probe_went_wrong(probe->steps[KEEL_PROBE_RUN].state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[rows[i].step];
        const char *word = rows[i].word;
        if (done[rows[i].step] || !keel_probe_went_wrong(outcome->state) ||
            !(rows[i].how & how_it_went(probe, rows[i].step)) ||
            (word && strcmp(outcome->code, word) && !strstr(outcome->message, word)))
            continue;
        done[rows[i].step] = true;
        keel_probe_add(probe, rows[i].label, rows[i].weight, rows[i].next, "%s%s", rows[i].text,
                       describe_failure(outcome, text));
    }
}

// ---- good to know ------------------------------------------------------------------------------

static void judge_memory(keel_probe_t *probe) {
    static const char unknown[] = "unknown: ";
    const keel_bundle_fact_t *first = NULL, *last = NULL;
    for (size_t i = 0; i < probe->bundle.count; ++i) {
        const keel_bundle_fact_t *at = &probe->bundle.facts[i];
        if (at->section != KEEL_BUNDLE_MEMORY || strncmp(at->value, unknown, sizeof unknown - 1))
            continue;
        if (!first) first = at;
        last = at;
    }
    if (!first) return;
    keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
                   "use the memory of each program, which is known from its compile",
                   "the plugin does not report the memory of its devices (%s%s%s): %s", first->name,
                   first != last ? " to " : "", first != last ? last->name : "",
                   first->value + sizeof unknown - 1);
}

static void judge_lines(keel_probe_t *probe) {
    if (probe->broken_lines)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
                       "report it to the plugin's maintainers; this probe may be incomplete",
                       "%llu line(s) from the plugin's process are not the probe's: "
                       "something in it writes to files that are not its own",
                       (unsigned long long)probe->broken_lines);
}

void keel_probe_conclude(keel_probe_t *probe) {
    judge_versions(probe);
    judge_steps(probe);
    judge_memory(probe);
    judge_lines(probe);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        if (probe->steps[i].state != KEEL_PROBE_NOT_TRIED)
            probe_note(probe, KEEL_BUNDLE_STEPS, keel_probe_step_name((keel_probe_step_t)i),
                       keel_probe_state_name(probe->steps[i].state));
}
