// Findings that follow from the steps and the bundle.
#include "bundle/versions.h"
#include "probe/probe.h"

// ---- versions ----------------------------------------------------------------------------------

static void judge_versions(keel_probe_t *probe) {
    for (size_t i = 0; i <= KEEL_BUNDLE_CLIENTS_TRIED; ++i) {
        keel_bundle_verdict_t verdict;
        if (i < KEEL_BUNDLE_CLIENTS_TRIED)
            keel_bundle_judge_client(&probe->bundle, i, &verdict);
        else
            keel_bundle_judge_plugin(&probe->bundle, &verdict);
        // What is wrong with the plugin itself follows from its steps.
        if (verdict.support == KEEL_BUNDLE_OLDER || verdict.support == KEEL_BUNDLE_NEWER)
            keel_probe_add(probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_ALIVE,
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

// How a step went wrong.
enum { FAILED = 1, ENDED = 2, HUNG = 4, ANY = 7 };

// What follows when a step went wrong: the first row of the step that fits.
static const struct {
    keel_probe_step_t step;
    unsigned how;
    const char *word; // the error's code or a part of its message; NULL: any
    const char *label;
    keel_probe_verdict_t weight;
    const char *text, *next; // before the failure; the next step
} rows[] = {
#define ROW(step, how, word, label, weight, ...)                                                   \
    { KEEL_PROBE_##step, how, word, KEEL_PROBE_##label, KEEL_PROBE_##weight, __VA_ARGS__ }
    ROW(LOAD, HUNG, NULL, BACKEND_DEFECT, DEAD, "loading the plugin does not finish: ",
        "if its disk is slow, give it more time with --timeout; otherwise see what it waits for "
        "with `gdb -p` or `strace -p` while it loads"),
    ROW(LOAD, ENDED, NULL, BACKEND_DEFECT, DEAD, "loading the plugin ends the process: ",
        "check with `ldd` that no library is missing, and reinstall it"),
    ROW(LOAD, FAILED, "unsupported", VERSION_GATE, DEAD, "",
        "use a plugin of a version that Keel supports"),
    ROW(LOAD, FAILED, NULL, LAUNCH_POLICY, DEAD, "",
        "name a PJRT plugin: `keel probe PLUGIN`, KEEL_PLUGIN, or plugin in the config file"),
    ROW(CLIENT, ANY, "already in use", LAUNCH_POLICY, DEAD, "another process uses the device: ",
        "end the process that uses the device, or wait for it"),
    ROW(CLIENT, ANY, NULL, BACKEND_DEFECT, DEAD, "the plugin cannot make a client: ",
        "check that the device and its driver are present and free; the message is the plugin's "
        "own"),
    ROW(DEVICES, ANY, NULL, BACKEND_DEFECT, DEAD, "its devices cannot be read: ", REPORT),
    ROW(COMPILE, ANY, NULL, BACKEND_DEFECT, DEAD, "a small program does not compile: ", REPORT),
    ROW(RUN, ANY, NULL, BACKEND_DEFECT, DEAD, "a small program gives wrong results or fails: ",
        "do not train on this plugin; install another build"),
    ROW(SERIALIZE, FAILED, NULL, BACKEND_DEFECT, LIMPING,
        "executables cannot be kept, because they do not serialize: ", NOTHING_KEPT),
    ROW(SERIALIZE, ANY, NULL, BACKEND_DEFECT, LIMPING,
        "serializing an executable crashes or hangs: ", NO_RELOADS),
    ROW(RELOAD, FAILED, NULL, BACKEND_DEFECT, LIMPING,
        "executables cannot be kept, because they do not load again: ", NOTHING_KEPT),
    ROW(RELOAD, ANY, NULL, BACKEND_DEFECT, LIMPING,
        "loading an executable crashes or hangs: ", NO_RELOADS),
    ROW(AGAIN, ANY, NULL, BACKEND_DEFECT, DEAD,
        "a reloaded executable does not behave like the compiled one: ", NO_RELOADS),
    ROW(LAST, ANY, NULL, BACKEND_DEFECT, LIMPING,
        "the last device cannot compile and run: ", "train on fewer devices, or fix that one"),
    ROW(OLDER, ANY, NULL, VERSION_GATE, LIMPING,
        "a client as old as torch_xla 2.9 cannot run a program here, even with Keel's bridge: ",
        "use a client as new as the plugin"),
#undef ROW
};

static unsigned how_it_went(keel_probe_state_t state) {
    return state == KEEL_PROBE_FAILED ? FAILED : state == KEEL_PROBE_HUNG ? HUNG : ENDED;
}

static void judge_steps(keel_probe_t *probe) {
    bool done[KEEL_PROBE_STEP_COUNT] = {false};
    // The compiled one was wrong already, so reloading is not to blame.
    done[KEEL_PROBE_AGAIN] = keel_probe_went_wrong(probe->steps[KEEL_PROBE_RUN].state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[rows[i].step];
        const char *word = rows[i].word;
        if (done[rows[i].step] || !keel_probe_went_wrong(outcome->state) ||
            !(rows[i].how & how_it_went(outcome->state)) ||
            (word && strcmp(outcome->code, word) && !strstr(outcome->message, word)))
            continue;
        done[rows[i].step] = true;
        bool of_plugin = strncmp(outcome->message, "PJRT_", 5) == 0;
        keel_probe_add(probe, rows[i].label, rows[i].weight, rows[i].next, "%s%s%s%s", rows[i].text,
                       of_plugin ? outcome->code : "", of_plugin ? ": " : "", outcome->message);
    }
}

void keel_probe_conclude(keel_probe_t *probe) {
    judge_versions(probe);
    judge_steps(probe);
    if (probe->lacks_tpu)
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
                       "run on a machine with a TPU, or choose another plugin with --plugin",
                       "no TPU here: there is neither /dev/accel* nor /dev/vfio/[0-9]*");
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        if (probe->steps[i].state != KEEL_PROBE_NOT_TRIED)
            keel_bundle_format(&probe->bundle, KEEL_BUNDLE_STEPS, keel_probe_step_names[i], "%s",
                               keel_probe_state_names[probe->steps[i].state]);
}
