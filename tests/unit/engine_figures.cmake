keel_unit_test(engine_figures ROOMS shim store text why run analysis base)
target_include_directories(engine_figures_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(engine_figures_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>"
  KEEL_DOOR="$<TARGET_FILE:keel_pjrt_plugin>")
add_dependencies(engine_figures_test keel_test_plugin keel_pjrt_plugin)
set_tests_properties(unit.engine_figures PROPERTIES ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=0")
keel_unit_test(engine_pace ROOMS engine base)
keel_unit_test(engine_dumps ROOMS engine key base)
keel_unit_test(engine_late ROOMS engine base)
keel_unit_test(engine_taken ROOMS engine base)
keel_unit_test(engine_parts ROOMS engine base)
keel_unit_test(engine_rehearsal ROOMS engine rehearse base)
target_link_options(engine_rehearsal_test PRIVATE -Wl,--wrap=keel_rehearse_state)
