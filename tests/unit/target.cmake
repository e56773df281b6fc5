keel_unit_test(target ROOMS target pjrt base)
keel_unit_test(target_client ROOMS target pjrt base)
target_compile_definitions(target_client_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>")
add_dependencies(target_client_test keel_test_plugin)
