keel_fault_test(engine ROOMS shim store base)
target_include_directories(engine_fault_test PRIVATE
  ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/unit)
target_compile_definitions(engine_fault_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>")
add_dependencies(engine_fault_test keel_test_plugin)
# Else each of its many processes sleeps for a second at its end.
set_tests_properties(fault.engine PROPERTIES ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=0")
