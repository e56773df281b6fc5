keel_fault_test(analysis ROOMS analysis shim store base)
target_include_directories(analysis_fault_test PRIVATE
  ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/unit)
target_compile_definitions(analysis_fault_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>")
add_dependencies(analysis_fault_test keel_test_plugin)
