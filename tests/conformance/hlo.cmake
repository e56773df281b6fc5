# XLA's own reader of HloModuleProto, in the bindings of jaxlib, beside Keel's.
add_test(NAME conformance.hlo
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
    ${CMAKE_SOURCE_DIR}/.venv/bin/python ${CMAKE_CURRENT_SOURCE_DIR}/hlo_oracle.py $<TARGET_FILE:keel>)
set_tests_properties(conformance.hlo PROPERTIES TIMEOUT 1800 LABELS "conformance;read")
