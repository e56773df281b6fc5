# One program in the encodings of several versions of StableHLO.
add_test(NAME conformance.mlir_versions
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
    ${CMAKE_SOURCE_DIR}/.venv/bin/python ${CMAKE_CURRENT_SOURCE_DIR}/mlir_versions.py $<TARGET_FILE:keel>)
set_tests_properties(conformance.mlir_versions PROPERTIES TIMEOUT 600 LABELS "conformance;read;key")
