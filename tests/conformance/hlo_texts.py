"""Modules as HLO text: what JAX never asks for. XLA parses them for hlo_oracle.py."""

TEXTS = {
    "scheduled": """HloModule scheduled, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias) }, buffer_donor={ (2, {}) }
ENTRY %main (p0: f32[8], p1: f32[8], p2: f32[8]) -> (f32[8], f32[8]) {
  %p1 = f32[8]{0} parameter(1)
  %p0 = f32[8]{0} parameter(0)
  %p2 = f32[8]{0} parameter(2)
  %n = f32[8]{0} negate(%p2)
  %a = f32[8]{0} add(%p0, %p1)
  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%a, %n), control-predecessors={%a, %n}
}""",
    "layouts": """HloModule layouts
ENTRY %main (p0: bf16[2,8,128], p1: s4[16]) -> bf16[8,2,128] {
  %p0 = bf16[2,8,128]{2,1,0:T(8,128)(2,1)S(1)} parameter(0), parameter_replication={true}
  %p1 = s4[16]{0:E(4)} parameter(1), sharding={replicated}
  %c = f32[2,2]{0,1} constant({{1, 2}, {3, 4}})
  ROOT %t = bf16[8,2,128]{2,0,1} transpose(%p0), dimensions={1,0,2}
}""",
    "fusion": """HloModule fusion
%fused (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  ROOT %m = f32[8]{0} multiply(%p, %q)
}
ENTRY %main (p0: f32[8]) -> f32[8] {
  %p0 = f32[8]{0} parameter(0)
  ROOT %f = f32[8]{0} fusion(%p0, %p0), kind=kLoop, output_to_operand_aliasing={{}: (0, {})}, calls=%fused, backend_config={"a":[1,2]}
}""",
    "custom_calls": """HloModule custom_calls
%called (a: f32[]) -> f32[] {
  ROOT %a = f32[] parameter(0)
}
ENTRY %main (p0: f32[8]) -> (f32[8], s32[]) {
  %p0 = f32[8]{0} parameter(0)
  %c0 = f32[8]{0} custom-call(%p0), custom_call_target="first", operand_layout_constraints={f32[8]{0}}, custom_call_has_side_effect=true, api_version=API_VERSION_STATUS_RETURNING_UNIFIED, backend_config="opaque \\"text\\""
  %c1 = f32[8]{0} custom-call(%c0), custom_call_target="second", called_computations={%called}, schedule=SCHEDULE_LATEST
  ROOT %c2 = (f32[8]{0}, s32[]) custom-call(%c1), custom_call_target="third", output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, backend_config="{a = 1}"
}""",
    "random": """HloModule random
ENTRY %main (lo: f32[], hi: f32[], state: u64[2]) -> f32[4] {
  %lo = f32[] parameter(0)
  %hi = f32[] parameter(1)
  %state = u64[2]{0} parameter(2)
  %bits = (u64[2]{0}, u32[4]{0}) rng-bit-generator(%state), algorithm=rng_philox
  %next = u64[1]{0} rng-get-and-update-state(), delta=7
  %normal = f32[4]{0} rng(%lo, %hi), distribution=rng_normal
  ROOT %uniform = f32[4]{0} rng(%lo, %hi), distribution=rng_uniform
}""",
    "transfers": """HloModule transfers
ENTRY %main (p0: f32[4]) -> f32[4] {
  %p0 = f32[4]{0} parameter(0)
  %start = token[] after-all()
  %in = (f32[4]{0}, token[]) infeed(%start), infeed_config="from"
  %after = token[] get-tuple-element(%in), index=1
  %out = token[] outfeed(%p0, %after), outfeed_shape=f32[4]{0}, outfeed_config="to"
  %send = (f32[4]{0}, u32[], token[]) send(%p0, %out), channel_id=3, is_host_transfer=true
  %sent = token[] send-done(%send), channel_id=3, is_host_transfer=true
  %recv = (f32[4]{0}, u32[], token[]) recv(%sent), channel_id=4, is_host_transfer=true
  %received = (f32[4]{0}, token[]) recv-done(%recv), channel_id=4, is_host_transfer=true
  ROOT %got = f32[4]{0} get-tuple-element(%received), index=0
}""",
    "collectives": """HloModule collectives, replica_count=4
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
ENTRY %main (p0: f32[4]) -> f32[4] {
  %p0 = f32[4]{0} parameter(0)
  %r0 = f32[4]{0} all-reduce(%p0), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=%add
  %r1 = f32[4]{0} all-reduce(%r0), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=%add
  %g = f32[8]{0} all-gather(%r1), replica_groups={{0,1},{2,3}}, dimensions={0}
  %s = f32[4]{0} reduce-scatter(%g), replica_groups={{0,1},{2,3}}, dimensions={0}, to_apply=%add
  %p = f32[4]{0} collective-permute(%s), source_target_pairs={{0,1},{1,0}}
  %x = f32[4]{0} all-to-all(%p), replica_groups={{0,1,2,3}}, dimensions={0}
  %b = f32[4]{0} collective-broadcast(%x), replica_groups={{0,1,2,3}}
  %id = u32[] replica-id()
  ROOT %y = f32[4]{0} copy(%b)
}""",
    "async": """HloModule async
%wrapped (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %n = f32[4]{0} negate(%p)
}
ENTRY %main (p0: f32[4]) -> f32[4] {
  %p0 = f32[4]{0} parameter(0)
  %start = ((f32[4]{0}), f32[4]{0}, s32[]) async-start(%p0), calls=%wrapped
  %done = f32[4]{0} async-done(%start)
  %copy = (f32[4]{0}, f32[4]{0}, u32[]) copy-start(%done), cross_program_prefetch_index=0
  ROOT %copied = f32[4]{0} copy-done(%copy)
}""",
    "dynamic": """HloModule dynamic
ENTRY %main (p0: f32[8,4], n: s32[]) -> (f32[<=8,4], s32[]) {
  %p0 = f32[8,4]{1,0} parameter(0)
  %n = s32[] parameter(1)
  %d = f32[<=8,4]{1,0} set-dimension-size(%p0, %n), dimensions={0}
  %size = s32[] get-dimension-size(%d), dimensions={0}
  ROOT %t = (f32[<=8,4]{1,0}, s32[]) tuple(%d, %size)
}""",
    "shardings": """HloModule shardings
ENTRY %main (p0: f32[8,4], p1: f32[8,4], p2: f32[8,4], p3: f32[8,4]) -> (f32[8,4], f32[8,4]) {
  %p0 = f32[8,4]{1,0} parameter(0), sharding={devices=[2,2]0,2,1,3}
  %p1 = f32[8,4]{1,0} parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  %p2 = f32[8,4]{1,0} parameter(2), sharding={maximal device=1}
  %p3 = f32[8,4]{1,0} parameter(3), sharding={manual}, frontend_attributes={b="2",a="x,y"}
  %a = f32[8,4]{1,0} add(%p0, %p1), sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  %m = f32[8,4]{1,0} multiply(%p2, %p3)
  ROOT %t = (f32[8,4]{1,0}, f32[8,4]{1,0}) tuple(%a, %m), sharding={{replicated}, {devices=[4,1]<=[4]}}
}""",
    "meshes": """HloModule meshes, replica_count=8, num_partitions=2
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
ENTRY %main (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0), sharding={mesh['a'=4,'b'=4], [{'a', ?}, {?}]}
  %c0 = f32[8,8]{1,0} copy(%p), sharding={mesh['a'=4,'b'=4], [{'a'}, {}], replicated={'b'}}
  %c1 = f32[8,8]{1,0} copy(%c0), sharding={mesh['a'=4,'b'=4], [{'a'}, {}], unreduced={'b'}}
  %c2 = f32[8,8]{1,0} copy(%c1), sharding={mesh['a'=4,'b'=4], [{'a'}, {}], unreduced=max{'b'}}
  %c3 = f32[8,8]{1,0} copy(%c2), sharding={mesh['a'=4,'b'=4], [{}, {}], manual={'b'}}
  %c4 = f32[8,8]{1,0} copy(%c3), sharding={mesh['a'=4,'b'=4], [{'a':(1)2}, {}]}
  %c5 = f32[8,8]{1,0} copy(%c4), sharding={mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)), [{'a'}, {'b'}]}
  %c6 = f32[8,8]{1,0} copy(%c5), sharding={mesh['a'=4,'b'=2], device_ids=(0,2,4,6,1,3,5,7), [{'a'}, {'b'}]}
  %c7 = f32[8,8]{1,0} copy(%c6), sharding={devices=[8,1]<=[8] shard_as 3}
  %c8 = f32[8,8]{1,0} copy(%c7), sharding={devices=[2,2,2]<=[2,2,2]T(1,0,2) last_tile_dims={unreduced} metadata={op_type="sdy::reduction_op" op_name="MAX"}}
  %r0 = f32[8,8]{1,0} all-reduce(%c8), replica_groups=mesh['a'=2,'b'=4] {'b':(1)2}, to_apply=%add
  ROOT %r1 = f32[8,8]{1,0} all-reduce(%r0), replica_groups=mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b':(1)2,'a'}, to_apply=%add
}""",
    "odd": """HloModule odd, frontend_attributes={z="1",a="2"}
%body (c: f32[], x: f32[]) -> (f32[], f32[]) {
  %c = f32[] parameter(0)
  %x = f32[] parameter(1)
  %s = f32[] add(%c, %x)
  ROOT %t = (f32[], f32[]) tuple(%s, %s)
}
ENTRY %main (p: f32[], q: f32[8]) -> (f32[], f32[8]) {
  %p = f32[] parameter(0), statistics={visualizing_index=1,count_a=1,count_b=2}
  %q = f32[8]{0} parameter(1), metadata={op_type="kind" op_name="a/b" source_file="x.py" source_line=3}
  %pair = (f32[2]{0}, s32[]) constant(({1, 2}, 3))
  %d = f32[8]{0} domain(%q), domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}
  ROOT %r = (f32[], f32[8]{0}) scan(%p, %d), dimensions={0}, is_reverse=true, num_carries=1, is_associative=true, to_apply=%body
}""",
    "numbers": """HloModule numbers
ENTRY %main (p0: f32[2,3,4]) -> f32[2,3,4] {
  %p0 = f32[2,3,4]{2,1,0} parameter(0)
  %scale = f32[4]{0} constant({1, 2, 3, 4})
  %wide = u64[2]{0} constant({18446744073709551615, 0})
  %signed = s64[2]{0} constant({-9223372036854775808, 5})
  %double = f64[2]{0} constant({1e-300, -0})
  %nibble = u4[3]{0} constant({15, 1, 0})
  %pair = s2[3]{0} constant({-2, 1, 0})
  %eighth = f8e5m2[2]{0} constant({1.5, inf})
  %nested = f32[2,1,2]{2,1,0} constant({{{1, 2}}, {{3, 4}}})
  %four = f4e2m1fn[2]{0} constant({1.5, -6})
  %empty = f32[2,0]{1,0} constant({ {}, {} })
  %flipped = s32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})
  %slice = f32[1,2,2]{2,1,0} slice(%p0), slice={[0:1], [1:3], [0:4:2]}
  %reverse = f32[2,3,4]{2,1,0} reverse(%p0), dimensions={0,2}
  %norm = f32[2,3,4]{2,1,0} batch-norm-inference(%reverse, %scale, %scale, %scale, %scale), epsilon=0.001, feature_index=2
  ROOT %precision = f32[2,3,4]{2,1,0} reduce-precision(%norm), exponent_bits=8, mantissa_bits=7
}""",
}
