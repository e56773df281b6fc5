keel_fault_test(probe ROOMS probe bundle pjrt key settings base)
target_compile_definitions(probe_fault_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>")
add_dependencies(probe_fault_test keel_test_plugin)
