// Findings that follow from the steps. Nothing here examines the machine.
#include <stdio.h>
#include <string.h>

#include <pjrt_c_api.h>

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
    if (!probe->is_there || !probe->recorded_size_known || probe->size == probe->recorded_size)
        return;
    keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING,
                   "install that wheel again, with --force-reinstall",
                   "the plugin's file has %llu bytes, but the record of its wheel, %s, says "
                   "%llu: the installation was interrupted, or the file was replaced",
                   (unsigned long long)probe->size, probe->wheel,
                   (unsigned long long)probe->recorded_size);
}

static void judge_load(keel_probe_t *probe) {
    char text[768];
    const keel_probe_outcome_t *load = wrong(probe, KEEL_PROBE_LOAD);
    if (!load) return;
    if (load->state == KEEL_PROBE_HUNG)
        keel_probe_add(
            probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
            "if its disk is slow, give it more time with --timeout; otherwise see what it "
            "waits for with `gdb -p` or `strace -p` while it loads",
            "loading the plugin does not finish: %s", describe_failure(load, text));
    else if (load->state != KEEL_PROBE_FAILED)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
                       "check with `ldd` that no library is missing, and reinstall it",
                       "loading the plugin ends the process: %s", describe_failure(load, text));
    else if (strcmp(load->code, keel_code_word(KEEL_UNSUPPORTED)) == 0)
        keel_probe_add(probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_DEAD,
                       "use a plugin of a version that Keel supports", "%s",
                       describe_failure(load, text));
    else
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
                       "name a PJRT plugin: `keel probe PLUGIN`, KEEL_PLUGIN, or plugin in the "
                       "config file",
                       "%s", describe_failure(load, text));
}

static const char versions_next[] =
    "see docs/compatibility.md for the tested versions; `keel bundle` shows what is installed";

static void judge_version(keel_probe_t *probe) {
    keel_bundle_verdict_t verdict;
    if (!probe->api_known) return;
    keel_bundle_judge_api(probe->plugin, probe->api_major, probe->api_minor, &verdict);
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

// ---- alive -------------------------------------------------------------------------------------

static void judge_tpu_elsewhere(keel_probe_t *probe, const keel_probe_outcome_t *client) {
    char text[768], time[24], more[768];
    const keel_probe_outcome_t *compile = &probe->steps[KEEL_PROBE_ELSEWHERE];
    const keel_probe_outcome_t *failed = wrong(probe, KEEL_PROBE_TOPOLOGY);
    keel_format_seconds(keel_seconds(compile->nanoseconds), time);
    if (!failed) failed = compile;
    if (compile->state == KEEL_PROBE_OK)
        keel_probe_add(
            probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING,
            "compile for a TPU here and run on a machine that has one; to run here, choose "
            "another plugin with --plugin",
            "no TPU here (could not make a client: %.400s); compile-only works for %s: "
            "compile ok, %s",
            describe_failure(client, text), probe->topology, time);
    else
        keel_probe_add(
            probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
            "run on a machine with a TPU, or choose another plugin with --plugin",
            "no TPU here (could not make a client: %.300s), and compiling for one does not "
            "work either: %.300s",
            describe_failure(client, text), describe_failure(failed, more));
}

static void judge_client(keel_probe_t *probe) {
    char text[768];
    const keel_probe_outcome_t *client = wrong(probe, KEEL_PROBE_CLIENT);
    if (!client) return;
    if (probe->is_tpu && !probe->has_tpu) {
        judge_tpu_elsewhere(probe, client);
        return;
    }
    if (strstr(client->message, "already in use"))
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
                       "end the process that uses the device, or wait for it",
                       "another process uses the device: %s", describe_failure(client, text));
    else
        keel_probe_add(
            probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
            "check that the device and its driver are present and free; the message is the "
            "plugin's own",
            "the plugin cannot make a client: %s", describe_failure(client, text));
}

// Steps whose failures are reported in the same way: weight, finding, next step.
static const struct {
    keel_probe_step_t step;
    keel_probe_label_t label;
    keel_probe_verdict_t weight;
    const char *text, *next;
} plain[] = {
    {KEEL_PROBE_DEVICES, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, "its devices cannot be read",
     "report it to the plugin's maintainers, with the output of `keel probe --json`"},
    {KEEL_PROBE_COMPILE, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
     "a small program does not compile",
     "report it to the plugin's maintainers, with the output of `keel probe --json`"},
    {KEEL_PROBE_RUN, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
     "a small program gives wrong results or fails",
     "do not train on this plugin; install another build"},
    {KEEL_PROBE_AGAIN, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
     "a reloaded executable does not behave like the compiled one",
     "set KEEL_MODE=off for this plugin, so that nothing is reloaded"},
    {KEEL_PROBE_LAST, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING,
     "the last device cannot compile and run", "train on fewer devices, or fix that one"},
    {KEEL_PROBE_OLDER, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_LIMPING,
     "a client as old as torch_xla 2.9 cannot run a program here, even with Keel's bridge",
     "use a client as new as the plugin"},
    {KEEL_PROBE_SECOND, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
     "a reloaded executable serializes to bytes that do not work",
     "nothing to do: Keel returns the stored bytes instead"},
    {KEEL_PROBE_SIZES, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
     "the plugin's struct sizes could not be determined",
     "nothing to do: the bridge learns them from refusals during a run"},
};

static void judge_plain(keel_probe_t *probe) {
    char text[768];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i) {
        const keel_probe_outcome_t *outcome = wrong(probe, plain[i].step);
        // The compiled one was wrong already, so reloading is not to blame.
        bool is_old = plain[i].step == KEEL_PROBE_AGAIN && wrong(probe, KEEL_PROBE_RUN);
        if (outcome && !is_old)
            keel_probe_add(probe, plain[i].label, plain[i].weight, plain[i].next, "%s: %s in %s",
                           plain[i].text, describe_failure(outcome, text),
                           keel_probe_step_name(plain[i].step));
    }
}

static void judge_reload(keel_probe_t *probe) {
    static const char next[] =
        "expect a compile of each program in each process; Keel still explains recompiles, and its "
        "memory tier serves each process. A newer plugin may do better";
    char text[768];
    const keel_probe_outcome_t *serialize = wrong(probe, KEEL_PROBE_SERIALIZE);
    const keel_probe_outcome_t *reload = wrong(probe, KEEL_PROBE_RELOAD);
    const keel_probe_outcome_t *ended = serialize ? serialize : reload;
    if (ended && ended->state != KEEL_PROBE_FAILED)
        keel_probe_add(
            probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING,
            "set KEEL_MODE=off for this plugin, so that nothing is serialized or reloaded",
            "%s an executable crashes or hangs: %s in %s", serialize ? "serializing" : "loading",
            describe_failure(ended, text), serialize ? "serialize" : "reload");
    else if (serialize)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, next,
                       "executables cannot be kept, because they do not serialize: %s",
                       describe_failure(serialize, text));
    else if (reload)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, next,
                       "executables cannot be kept, because they do not load again: %s",
                       describe_failure(reload, text));
}

// ---- good to know ------------------------------------------------------------------------------

static void judge_memory(keel_probe_t *probe) {
    size_t silent = 0;
    const keel_probe_device_t *first = NULL;
    for (size_t i = probe->device_count; i > 0; --i) {
        if (probe->devices[i - 1].memory_known) continue;
        ++silent;
        first = &probe->devices[i - 1];
    }
    if (!silent) return;
    const keel_probe_device_t *last = &probe->devices[probe->device_count - 1];
    keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
                   "use the memory of each program, which is known from its compile",
                   "platform %s does not report the memory of its devices (%s%s%s): %s",
                   probe->platform, first->name, silent > 1 ? " to " : "",
                   silent > 1 ? last->name : "", first->memory_refusal);
}

static void judge_topology(keel_probe_t *probe) {
    const char *value = probe->key_known ? probe->key.values[KEEL_COMPONENT_TOPOLOGY] : NULL;
    if (!value || strncmp(value, "unknown: ", 9) != 0) return;
    keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
                   "nothing to do: keys use the kinds of devices and the processor",
                   "its topology cannot be serialized: %.300s", value + 9);
}

static void judge_client_of(keel_probe_t *probe, const char *client, int minor, const char *name,
                            uint64_t size) {
    for (size_t i = 0; i < probe->struct_count; ++i) {
        const keel_probe_struct_t *at = &probe->structs[i];
        if (strcmp(at->name, name) != 0 || at->wanted == size) continue;
        keel_probe_add(
            probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_ALIVE,
            "run that client through Keel, which converts it; without Keel it fails here",
            "%s (PJRT 0.%d) sends %s of %llu bytes, the plugin wants %llu", client, minor, name,
            (unsigned long long)size, (unsigned long long)at->wanted);
    }
}

static void judge_structs(keel_probe_t *probe) {
#define CLIENT(client, minor, name, size) judge_client_of(probe, client, minor, name, size);
    KEEL_PROBE_CLIENTS(CLIENT)
#undef CLIENT
    size_t longer = 0;
    for (size_t i = 0; i < probe->struct_count; ++i)
        longer += probe->structs[i].wanted > probe->structs[i].header;
    if (!longer) return;
    keel_probe_add(
        probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_ALIVE,
        "nothing to do: the bridge pads them with zeros",
        "the plugin (PJRT %d.%d) wants %zu argument struct%s longer than the header that "
        "Keel is built with (%d.%d)",
        probe->api_major, probe->api_minor, longer, longer > 1 ? "s" : "", PJRT_API_MAJOR,
        PJRT_API_MINOR);
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
    judge_load(probe);
    judge_version(probe);
    judge_client(probe);
    judge_plain(probe);
    judge_reload(probe);
    judge_structs(probe);
    judge_memory(probe);
    judge_topology(probe);
    judge_lines(probe);
}
