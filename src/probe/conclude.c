// What follows from the steps. Nothing here looks at the machine.
#include <stdio.h>
#include <string.h>

#include <pjrt_c_api.h>

#include "bundle/versions.h"
#include "probe/probe.h"

// What went wrong in a step, in one line.
static const char *tell(const keel_probe_outcome_t *outcome, char out[768]) {
    bool of_plugin =
        outcome->state == KEEL_PROBE_FAILED && strncmp(outcome->message, "PJRT_", 5) == 0;
    int size = snprintf(out, 768, "%s%s%.480s", of_plugin ? outcome->code : "",
                        of_plugin ? ": " : "", outcome->message);
    // A plugin that answers with an error has said in it what there is to say.
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
                   "the plugin's file holds %llu bytes where the record of its wheel, %s, says "
                   "%llu: the installation was cut short, or the file was replaced",
                   (unsigned long long)probe->size, probe->wheel,
                   (unsigned long long)probe->recorded_size);
}

static void judge_load(keel_probe_t *probe) {
    char text[768];
    const keel_probe_outcome_t *load = wrong(probe, KEEL_PROBE_LOAD);
    if (!load) return;
    if (load->state == KEEL_PROBE_HUNG)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
                       "give it longer with --timeout where its disk is slow; else see what it "
                       "waits for with `gdb -p` or `strace -p` while it loads",
                       "loading the plugin does not end: %s", tell(load, text));
    else if (load->state != KEEL_PROBE_FAILED)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
                       "see whether its libraries are all there with `ldd`, and install it again",
                       "loading the plugin ends the process: %s", tell(load, text));
    else if (strcmp(load->code, keel_code_word(KEEL_UNSUPPORTED)) == 0)
        keel_probe_add(probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_DEAD,
                       "use a plugin of a version that Keel supports", "%s", tell(load, text));
    else
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
                       "name a PJRT plugin: `keel probe PLUGIN`, KEEL_PLUGIN, or plugin in the "
                       "config file",
                       "%s", tell(load, text));
}

static const char versions_next[] =
    "see docs/compatibility.md for what was tried; `keel bundle` tells what is installed";

static void judge_version(keel_probe_t *probe) {
    keel_bundle_verdict_t verdict;
    if (!probe->api_known) return;
    keel_bundle_judge_api(probe->plugin, probe->api_major, probe->api_minor, &verdict);
    if (verdict.support == KEEL_BUNDLE_OLDER || verdict.support == KEEL_BUNDLE_NEWER)
        keel_probe_add(probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_ALIVE, versions_next, "%s",
                       verdict.text);
}

void keel_probe_judge_clients(keel_probe_t *probe, const keel_bundle_t *bundle) {
    keel_bundle_verdict_t verdict;
    for (size_t i = 0; i < keel_bundle_client_count(); ++i) {
        keel_bundle_judge_client(bundle, i, !probe->is_tpu, &verdict);
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
            "compile for a TPU here and run on a machine that has one; to run here, name "
            "another plugin with --plugin",
            "no TPU here (client could not be made: %.400s); compile-only works for %s: "
            "compile ok, %s",
            tell(client, text), probe->topology, time);
    else
        keel_probe_add(
            probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
            "run on a machine with a TPU, or name another plugin with --plugin",
            "no TPU here (client could not be made: %.300s), and nothing can be compiled "
            "for one: %.300s",
            tell(client, text), tell(failed, more));
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
                       "end the process that holds the device, or wait for it",
                       "the device is held by somebody else: %s", tell(client, text));
    else
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
                       "see that the device and its driver are there and free; the message is the "
                       "plugin's own",
                       "no client can be made: %s", tell(client, text));
}

// Steps whose failure is told alike: weight, what is so, next step.
static const struct {
    keel_probe_step_t step;
    keel_probe_label_t label;
    keel_probe_verdict_t weight;
    const char *text, *next;
} plain[] = {
    {KEEL_PROBE_DEVICES, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD, "its devices cannot be read",
     "report it to the plugin's makers with `keel probe --json`"},
    {KEEL_PROBE_COMPILE, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
     "a small program does not compile",
     "report it to the plugin's makers with `keel probe --json`"},
    {KEEL_PROBE_RUN, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
     "a small program does not run as it must",
     "do not train on this plugin; install another build"},
    {KEEL_PROBE_AGAIN, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_DEAD,
     "a reloaded executable does not run as the compiled one did",
     "set KEEL_MODE=off for this plugin: then nothing is reloaded"},
    {KEEL_PROBE_LAST, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING,
     "the last device does not compile and run", "train on fewer devices, or see to that one"},
    {KEEL_PROBE_OLDER, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_LIMPING,
     "a client as old as torch_xla 2.9 cannot run a program here, not even over the bridge",
     "use a client that is as new as the plugin"},
    {KEEL_PROBE_SECOND, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
     "an executable that was loaded back does not serialize to one that works",
     "nothing: Keel hands out the bytes that it stored in their place"},
    {KEEL_PROBE_SIZES, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
     "what sizes the plugin wants could not be asked",
     "nothing: the bridge learns them from refusals in a run"},
};

static void judge_plain(keel_probe_t *probe) {
    char text[768];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i) {
        const keel_probe_outcome_t *outcome = wrong(probe, plain[i].step);
        // Compiled it is wrong already, so reloading is not to blame.
        bool is_old = plain[i].step == KEEL_PROBE_AGAIN && wrong(probe, KEEL_PROBE_RUN);
        if (outcome && !is_old)
            keel_probe_add(probe, plain[i].label, plain[i].weight, plain[i].next, "%s: %s in %s",
                           plain[i].text, tell(outcome, text), keel_probe_step_name(plain[i].step));
    }
}

static void judge_reload(keel_probe_t *probe) {
    static const char next[] =
        "expect a compile of each program in each process; Keel still tells why, and its "
        "memory serves one process. A newer plugin may do better";
    char text[768];
    const keel_probe_outcome_t *serialize = wrong(probe, KEEL_PROBE_SERIALIZE);
    const keel_probe_outcome_t *reload = wrong(probe, KEEL_PROBE_RELOAD);
    const keel_probe_outcome_t *ended = serialize ? serialize : reload;
    if (ended && ended->state != KEEL_PROBE_FAILED)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING,
                       "set KEEL_MODE=off for this plugin: then nothing is serialized or reloaded",
                       "%s an executable does not come back: %s in %s",
                       serialize ? "serializing" : "loading", tell(ended, text),
                       serialize ? "serialize" : "reload");
    else if (serialize)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, next,
                       "executables cannot be kept, since they do not serialize: %s",
                       tell(serialize, text));
    else if (reload)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_LIMPING, next,
                       "executables cannot be kept, since they do not load again: %s",
                       tell(reload, text));
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
                   "go by the memory of each program, which is known from its compile",
                   "platform %s does not tell the memory of its devices (%s%s%s): %s",
                   probe->platform, first->name, silent > 1 ? " to " : "",
                   silent > 1 ? last->name : "", first->memory_refusal);
}

static void judge_topology(keel_probe_t *probe) {
    const char *value = probe->key_known ? probe->key.values[KEEL_COMPONENT_TOPOLOGY] : NULL;
    if (!value || strncmp(value, "unknown: ", 9) != 0) return;
    keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
                   "nothing: keys go by the kinds of devices and the processor",
                   "its topology cannot be serialized: %.300s", value + 9);
}

static void judge_client_of(keel_probe_t *probe, const char *client, int minor, const char *name,
                            uint64_t size) {
    for (size_t i = 0; i < probe->struct_count; ++i) {
        const keel_probe_struct_t *at = &probe->structs[i];
        if (strcmp(at->name, name) != 0 || at->wanted == size) continue;
        keel_probe_add(probe, KEEL_PROBE_VERSION_GATE, KEEL_PROBE_ALIVE,
                       "run that client through Keel, which repacks it; without Keel it fails here",
                       "%s (PJRT 0.%d) sends %s of %llu bytes, the plugin wants %llu", client,
                       minor, name, (unsigned long long)size, (unsigned long long)at->wanted);
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
        "nothing: the bridge fills them up with zeros",
        "the plugin (PJRT %d.%d) wants %zu argument struct%s longer than the header that "
        "Keel is built with (%d.%d)",
        probe->api_major, probe->api_minor, longer, longer > 1 ? "s" : "", PJRT_API_MAJOR,
        PJRT_API_MINOR);
}

static void judge_lines(keel_probe_t *probe) {
    if (probe->broken_lines)
        keel_probe_add(probe, KEEL_PROBE_BACKEND_DEFECT, KEEL_PROBE_ALIVE,
                       "report it to the plugin's makers; what is told here may lack something",
                       "%llu line(s) came out of the plugin's process that are not the probe's: "
                       "something in it writes into files that are not its own",
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
