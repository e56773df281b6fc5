// Findings that follow from the steps. Nothing here examines the machine.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "bundle/versions.h"
#include "probe/probe.h"

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

static const keel_probe_outcome_t *wrong(const keel_probe_t *probe, keel_probe_step_t step) {
    const keel_probe_outcome_t *outcome = &probe->steps[step];
    return keel_probe_went_wrong(outcome->state) ? outcome : NULL;
}

// ---- installed ---------------------------------------------------------------------------------

static void judge_file(keel_probe_t *probe) {
    const json_t *plugin = keel_probe_facts(probe, "plugin");
    int64_t size = keel_probe_number(plugin, "size");
    int64_t recorded = keel_probe_number(plugin, "recorded_size");
    if (!probe->is_there || recorded < 0 || size == recorded) return;
    keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING,
                   "install that wheel again, with --force-reinstall",
                   "the plugin's file has %lld bytes, but the record of its wheel, %s, says "
                   "%lld: the installation was interrupted, or the file was replaced",
                   (long long)size, keel_probe_text(plugin, "wheel"), (long long)recorded);
}

// ---- versions ----------------------------------------------------------------------------------

static const char versions_next[] =
    "see docs/compatibility.md for the tested versions; `keel bundle` shows what is installed";

static void judge_version(keel_probe_t *probe) {
    keel_bundle_verdict_t verdict;
    const json_t *plugin = keel_probe_facts(probe, "plugin");
    int64_t major = keel_probe_number(plugin, "api_major");
    int64_t minor = keel_probe_number(plugin, "api_minor");
    if (major < 0 || major > INT_MAX || minor < 0 || minor > INT_MAX) return;
    keel_bundle_judge_api(keel_probe_text(plugin, "path"), (int)major, (int)minor, &verdict);
    if (verdict.support == KEEL_BUNDLE_OLDER || verdict.support == KEEL_BUNDLE_NEWER)
        keel_probe_add(probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_ALIVE, versions_next, "%s",
                       verdict.text);
}

void keel_probe_judge_clients(keel_probe_t *probe) {
    keel_bundle_verdict_t verdict;
    for (size_t i = 0; i < keel_bundle_client_count(); ++i) {
        keel_bundle_judge_client(&probe->bundle, i, !probe->is_tpu, &verdict);
        bool impossible = verdict.support == KEEL_BUNDLE_IMPOSSIBLE;
        if (*verdict.text)
            keel_probe_add(probe, KEEL_PROBE_VERSION_GATE,
                           impossible ? KEEL_PROBE_LIMPING : KEEL_PROBE_ALIVE, versions_next, "%s",
                           verdict.text);
    }
}

// ---- a TPU's compiler without a TPU ------------------------------------------------------------

static void judge_tpu_elsewhere(keel_probe_t *probe) {
    char text[768], time[24], more[768];
    const keel_probe_outcome_t *client = wrong(probe, KEEL_PROBE_CLIENT);
    const keel_probe_outcome_t *compile = &probe->steps[KEEL_PROBE_ELSEWHERE];
    const keel_probe_outcome_t *failed = wrong(probe, KEEL_PROBE_TOPOLOGY);
    if (!client) return;
    keel_format_seconds(keel_seconds(compile->nanoseconds), time);
    if (!failed) failed = compile;
    if (compile->state == KEEL_PROBE_OK)
        keel_probe_add(
            probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING,
            "compile for a TPU here and run on a machine that has one; to run here, choose "
            "another plugin with --plugin",
            "no TPU here (could not make a client: %.400s); compile-only works for %s: "
            "compile ok, %s",
            describe_failure(client, text), keel_probe_text(probe->facts, "compiled_for"), time);
    else
        keel_probe_add(
            probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
            "run on a machine with a TPU, or choose another plugin with --plugin",
            "no TPU here (could not make a client: %.300s), and compiling for one does not "
            "work either: %.300s",
            describe_failure(client, text), describe_failure(failed, more));
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
    const char *word; // the error's code, or a part of its message; NULL: any
    keel_probe_label_t label;
    keel_probe_verdict_t weight;
    bool is_named;    // the finding ends with the step's name
    const char *text; // before the failure; ""
    const char *next;
} rows[] = {
    {KEEL_PROBE_LOAD, HUNG, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, false,
     "loading the plugin does not finish: ",
     "if its disk is slow, give it more time with --timeout; otherwise see what it waits for with "
     "`gdb -p` or `strace -p` while it loads"},
    {KEEL_PROBE_LOAD, ENDED, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, false,
     "loading the plugin ends the process: ",
     "check with `ldd` that no library is missing, and reinstall it"},
    {KEEL_PROBE_LOAD, FAILED, "unsupported", KEEL_PROBE_VERSION_GATE, KEEL_PROBE_DEAD, false, "",
     "use a plugin of a version that Keel supports"},
    {KEEL_PROBE_LOAD, FAILED, NULL, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD, false, "",
     "name a PJRT plugin: `keel probe PLUGIN`, KEEL_PLUGIN, or plugin in the config file"},
    {KEEL_PROBE_CLIENT, ANY, "already in use", KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD, false,
     "another process uses the device: ", "end the process that uses the device, or wait for it"},
    {KEEL_PROBE_CLIENT, ANY, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, false,
     "the plugin cannot make a client: ",
     "check that the device and its driver are present and free; the message is the plugin's own"},
    {KEEL_PROBE_DEVICES, ANY, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, true,
     "its devices cannot be read: ", REPORT},
    {KEEL_PROBE_COMPILE, ANY, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, true,
     "a small program does not compile: ", REPORT},
    {KEEL_PROBE_RUN, ANY, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, true,
     "a small program gives wrong results or fails: ",
     "do not train on this plugin; install another build"},
    {KEEL_PROBE_AGAIN, ANY, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, true,
     "a reloaded executable does not behave like the compiled one: ",
     "set KEEL_MODE=off for this plugin, so that nothing is reloaded"},
    {KEEL_PROBE_LAST, ANY, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, true,
     "the last device cannot compile and run: ", "train on fewer devices, or fix that one"},
    {KEEL_PROBE_OLDER, ANY, NULL, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_LIMPING, true,
     "a client as old as torch_xla 2.9 cannot run a program here, even with Keel's bridge: ",
     "use a client as new as the plugin"},
    {KEEL_PROBE_SERIALIZE, ENDED | HUNG, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, true,
     "serializing an executable crashes or hangs: ", NO_RELOADS},
    {KEEL_PROBE_RELOAD, ENDED | HUNG, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, true,
     "loading an executable crashes or hangs: ", NO_RELOADS},
    {KEEL_PROBE_SERIALIZE, FAILED, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, false,
     "executables cannot be kept, because they do not serialize: ", NOTHING_KEPT},
    {KEEL_PROBE_RELOAD, FAILED, NULL, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, false,
     "executables cannot be kept, because they do not load again: ", NOTHING_KEPT},
};

static bool row_fits(size_t row, const keel_probe_outcome_t *outcome) {
    unsigned how = outcome->state == KEEL_PROBE_FAILED ? FAILED
                   : outcome->state == KEEL_PROBE_HUNG ? HUNG
                                                       : ENDED;
    const char *word = rows[row].word;
    return rows[row].how & how &&
           (!word || strcmp(outcome->code, word) == 0 || strstr(outcome->message, word));
}

static void judge_steps(keel_probe_t *probe) {
    bool done[KEEL_PROBE_STEP_COUNT] = {false};
    char text[768];
    // Its compiler may work without a device.
    done[KEEL_PROBE_CLIENT] = probe->is_tpu && !probe->has_tpu;
    if (done[KEEL_PROBE_CLIENT]) judge_tpu_elsewhere(probe);
    // The compiled one was wrong already, so reloading is not to blame.
    done[KEEL_PROBE_AGAIN] = wrong(probe, KEEL_PROBE_RUN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const keel_probe_outcome_t *outcome = wrong(probe, rows[i].step);
        if (!outcome || done[rows[i].step] || !row_fits(i, outcome)) continue;
        done[rows[i].step] = true;
        keel_probe_add(probe, rows[i].label, rows[i].weight, rows[i].next, "%s%s%s%s", rows[i].text,
                       describe_failure(outcome, text), rows[i].is_named ? " in " : "",
                       rows[i].is_named ? keel_probe_step_name(rows[i].step) : "");
    }
}

// ---- good to know ------------------------------------------------------------------------------

static void judge_memory(keel_probe_t *probe) {
    const json_t *devices = keel_probe_facts(probe, "devices");
    const json_t *first = NULL, *last = NULL;
    for (size_t i = 0; i < json_array_size(devices); ++i) {
        const json_t *device = json_array_get(devices, i);
        if (keel_probe_number(json_object_get(device, "memory"), "in_use") >= 0) continue;
        if (!first) first = device;
        last = device;
    }
    if (!first) return;
    keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
                   "use the memory of each program, which is known from its compile",
                   "platform %s does not report the memory of its devices (%s%s%s): %s",
                   keel_probe_text(keel_probe_facts(probe, "plugin"), "platform"),
                   keel_probe_text(first, "name"), first != last ? " to " : "",
                   first != last ? keel_probe_text(last, "name") : "",
                   keel_probe_text(json_object_get(first, "memory"), "refusal"));
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
    judge_file(probe);
    judge_version(probe);
    judge_steps(probe);
    judge_memory(probe);
    judge_lines(probe);
}
