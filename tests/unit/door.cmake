# The door runs above the plugin of tests/plugin; these tests start it in processes of their own.
foreach(name pjrt bridge shim shim_devices shim_own shim_offers shim_transfers shim_fixes engine_flow engine_sent engine_sites engine_makers engine engine_edges engine_bundle engine_portable engine_fusions engine_gang engine_progress engine_prefetch engine_tiers engine_gate engine_elsewhere engine_two engine_steps engine_growth engine_order engine_fork engine_hang engine_background enforce_contract analysis_run analysis_guard)
  keel_unit_test(${name} ROOMS shim store base)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${name}_test PRIVATE
    KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>"
    KEEL_DOOR="$<TARGET_FILE:keel_pjrt_plugin>"
    KEEL_PJRT_HEADER="${KEEL_PJRT_INCLUDE}/pjrt_c_api.h")
  add_dependencies(${name}_test keel_test_plugin keel_pjrt_plugin)
  # Else each of its many processes sleeps for a second at its end.
  set_tests_properties(unit.${name} PROPERTIES ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=0")
endforeach()
target_link_options(engine_prefetch_test PRIVATE -Wl,--wrap=pthread_cond_timedwait)
target_link_options(engine_hang_test PRIVATE -Wl,--wrap=keel_plan_read)
target_link_options(engine_edges_test PRIVATE -Wl,--wrap=keel_clock_monotonic)
target_link_options(engine_flow_test PRIVATE -Wl,--wrap=keel_stack_read)
target_link_options(engine_sites_test PRIVATE -Wl,--wrap=keel_stack_read)
target_link_options(engine_sent_test PRIVATE -Wl,--wrap=keel_stack_read)
target_link_options(enforce_contract_test PRIVATE -Wl,--wrap=keel_engine_ask_names)
keel_link(analysis_run_test analysis)
keel_link(analysis_guard_test text analysis)
target_link_options(analysis_guard_test PRIVATE -Wl,--wrap=keel_explain)
