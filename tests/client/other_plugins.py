"""The same behaviours on the plugins that are not embedded, of newer PJRT versions: bit for bit as
without Keel, cold and warm, all in one cache."""

from behaviour import avoidable, compare, failures, record, report
from harness import Workspace, bare_environment, entries, journal, keel_environment, other_plugins


def on_plugin(space, name, plugin):
    def through_keel(run):
        return record(f"{name}, {run}", keel_environment(
            space.path("cache"), space.runs, f"{name}-{run}", plugin=plugin))
    before = set(entries(space.path("cache")))
    bare = record(f"{name}, bare", bare_environment(plugin))
    cold = through_keel("cold")
    wanted = bare()
    compare(f"{name}, cold", cold(), wanted)
    events = journal(space.runs, f"{name}-cold")
    report.equal(f"{name}, cold: no failure", failures(events), [])
    report.check(f"{name}, cold: no entry of another plugin is used", not before & {
        event.get("key") for event in events if event["event"] == "load"})
    compare(f"{name}, warm", through_keel("warm")(), wanted)
    report.equal(f"{name}, warm: nothing that may be kept is compiled",
                 avoidable(journal(space.runs, f"{name}-warm")), [])


def main():
    with Workspace("other-plugins") as space:
        for name, plugin in other_plugins():
            on_plugin(space, name, plugin)
        if not other_plugins():
            report.check("no other plugin is set up, and none was needed", True)
            report.skip("other plugins", "they are missing: tools/setup --all-plugins brings them")
    report.finish()


if __name__ == "__main__":
    main()
