"""A run as no script makes it: names that are long, hostile and without a place to break, and more
recompiles than a page shows in full. The page is made from its journal alone."""

import json

LONG = "a_name_without_any_place_to_break_" * 8
EVIL = "</code><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\u0007"
KINDS = ("shape dtype weak_type arguments constant structure gradient size sharding donation layout "
         "precision option flag backend devices retrace cache").split()
RECOMPILES = 240


def root(index):
    kind = KINDS[index % len(KINDS)]
    subject = LONG if index % 3 == 0 else f"batch['tokens'][{index}]"
    return {"kind": kind, "subject": subject, "old": EVIL if index % 5 == 0 else "f32[8,512]",
            "new": "f32[" + ",".join(map(str, range(60))) + "]", "note": "1 of 16 elements differs",
            "file": f"/home/user/project/{LONG}/train.py" if index % 4 == 0 else "/home/user/project/train.py",
            "line": 10 + index % 7, "function": "train_step", "call_file": "/home/user/project/main.py",
            "call_line": 5, "folds": 3}


def recompile(index):
    program = f"{index:064x}"
    common = {"t": 1000.0 + index, "pid": 1, "program": program, "key": program,
              "name": LONG if index % 9 == 0 else f"jit_step_{index % 3}",
              "seconds": 0.5 + index % 13 * 40}
    yield {"event": "compile", **common, "ops": 100, "recompile": index > 2,
           "executes": {f"{index - 1:064x}": 400} if index else {}}
    yield {"event": "explain", **common, "what": "compile", "recompile": index > 2,
           "against": {"program": f"{index - 1:064x}", "name": common["name"], "run": LONG,
                       "when": 999.0} if index else {},
           "alike": 0.98, "roots": [root(index), root(index + 1)], "root_total": 40,
           "folded": [root(index + n) | {"follows": 0} for n in range(8)], "folded_total": 61,
           "stack": [{"file": f"/usr/lib/{LONG}.py", "line": n, "function": EVIL}
                     for n in range(1, 6)]}


def write(run_dir, name="20260101-000000-00000001"):
    folder = run_dir / name
    folder.mkdir(parents=True)
    events = [{"event": "start", "t": 1000.0, "pid": 1, "argv": ["python", LONG, EVIL],
               "cwd": f"/home/{LONG}", "mode": "on",
               "plugin": {"path": f"/opt/{LONG}.so", "platform": "cpu", "api_major": 0,
                          "api_minor": 81}}]
    for index in range(RECOMPILES):
        events += recompile(index)
    events.append({"event": "end", "t": 9000.0, "pid": 1, "wall": 8000.0,
                   "executes": {f"{RECOMPILES - 1:064x}": 400}})
    (folder / "journal.ndjson").write_text("".join(json.dumps(event) + "\n" for event in events))
    return name
