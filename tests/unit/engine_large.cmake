keel_unit_test(engine_large ROOMS shim store base)
target_include_directories(engine_large_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(engine_large_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>")
add_dependencies(engine_large_test keel_test_plugin)
set_tests_properties(unit.engine_large PROPERTIES ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=0")
