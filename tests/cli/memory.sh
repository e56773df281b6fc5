# What programs need, what devices had, what did not fit, and what was computed on the host.
journal() { mkdir -p "r/$1" && cat > "r/$1/journal.ndjson"; }
a=aaaa000000000000000000000000000000000000000000000000000000000000
b=bbbb000000000000000000000000000000000000000000000000000000000000
c=cccc000000000000000000000000000000000000000000000000000000000000
journal 20260101-120000-0000aaaa <<END
{"event":"start","t":1767268800,"pid":9,"argv":["python","train.py"],"cwd":"/w","mode":"on","plugin":{"path":"/p/tpu.so","platform":"tpu","api_major":0,"api_minor":81}}
{"event":"device_memory","t":1767268800,"pid":9,"device":"TPU:18","kind":"TPU v6 lite","in_use":1048576,"limit":33546039296}
{"event":"device_memory","t":1767268800,"pid":9,"device":"TPU:19","kind":"TPU v6 lite","in_use":1048576,"limit":33546039296}
{"event":"compile","t":1767268801,"pid":9,"program":"$a","key":"ka","name":"jit_init","seconds":1,"site":{"file":"/w/train.py","line":10}}
{"event":"memory","t":1767268801,"pid":9,"program":"$a","key":"ka","name":"jit_init","arguments":4,"outputs":8589934592,"aliased":0,"temporaries":512,"code":2048,"total":8589937156}
{"event":"memory","t":1767268802,"pid":9,"program":"$b","key":"kb","name":"jit_step","arguments":17179869184,"outputs":8589934592,"aliased":8589934592,"temporaries":12884901888,"code":52428800,"host":1024,"peak":30064771072,"total":30117199872}
{"event":"compile","t":1767268802,"pid":9,"program":"$b","key":"kb","name":"jit_step","seconds":9,"ops":50,"executes":{"$a":1},"site":{"file":"/w/train.py","line":88}}
{"event":"device_memory","t":1767268803,"pid":9,"device":"TPU:18","kind":"TPU v6 lite","in_use":20401094656,"peak":30601641984,"limit":33546039296}
{"event":"device_memory","t":1767268804,"pid":9,"device":"TPU:18","kind":"TPU v6 lite","in_use":9663676416,"peak":30601641984,"limit":33546039296}
{"event":"end","t":1767268810,"pid":9,"total":5,"wall":10,"executes":{"$b":4}}
END
export KEEL_RUN_DIR=r
keel memory; echo "exit $?"
echo
keel memory bbbb; echo "exit $?"
echo
keel memory jit_init; echo "exit $?"
keel memory --json 20260101 | python3 -c '
import json, sys
memory = json.load(sys.stdin)
print(memory["limit"], [(p["name"], p["shown"], p["total"], p["fits"]) for p in memory["programs"]])
print([(d["device"], d["most"], d["limit"]) for d in memory["devices"]], memory["misfits"])'
keel memory --json jit_step | python3 -c 'import json, sys; print(json.load(sys.stdin)["peak"])'
# A plugin that tells nothing, a program that does not fit, operations on the host.
journal 20260102-120000-0000bbbb <<END
{"event":"start","t":1767355200,"pid":9,"argv":["python","eval.py"],"cwd":"/w","mode":"on","plugin":{"path":"/p/cpu.so","platform":"cpu","api_major":0,"api_minor":81}}
{"event":"memory_unknown","t":1767355200,"pid":9,"what":"devices","message":"PJRT_Device_MemoryStats: no allocator"}
{"event":"memory_unknown","t":1767355201,"pid":9,"what":"programs","message":"PJRT_Executable_GetCompiledMemoryStats: no such function"}
{"event":"compile","t":1767355202,"pid":9,"program":"$c","key":"kc","name":"SyncTensorsGraph","format":"hlo","seconds":1,"ops":5}
{"event":"compile_error","t":1767355203,"pid":9,"program":"$b","name":"jit_step","code":"RESOURCE_EXHAUSTED","site":{"file":"/w/eval.py","line":7},"message":"E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (256.00G) exceeds available HBM (31.24G). HLO module: jit_step.\nSee the page."}
{"event":"host_ops","t":1767355204,"pid":9,"ops":{"aten::nonzero":4,"aten::linalg_eig":1}}
{"event":"host_ops","t":1767355205,"pid":9,"ops":{"aten::nonzero":4}}
{"event":"end","t":1767355206,"pid":9,"total":8,"wall":6,"executes":{"$c":8}}
END
keel memory; echo "exit $?"
echo
keel why
echo
keel stats | grep -E "on the host|no memory|does not fit"
keel stats --metrics | grep -A1 aten
keel memory ffff; echo "exit $?"
keel memory jit_step; echo "exit $?"
keel memory --run-dir nowhere; echo "exit $?"
