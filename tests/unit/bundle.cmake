keel_unit_test(bundle ROOMS bundle base)
target_include_directories(bundle_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(bundle_test PRIVATE
  KEEL_TEST_PLUGIN="$<TARGET_FILE:keel_test_plugin>")
add_dependencies(bundle_test keel_test_plugin)
