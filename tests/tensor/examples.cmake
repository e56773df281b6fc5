# The examples in C.
if(NOT KEEL_SANITIZE)
  foreach(example gpt generate accidents)
    add_test(NAME client.tensor_${example} COMMAND ${CMAKE_SOURCE_DIR}/.venv/bin/python
      ${CMAKE_CURRENT_LIST_DIR}/${example}.py ${CMAKE_BINARY_DIR})
    set_tests_properties(client.tensor_${example} PROPERTIES TIMEOUT 1800 LABELS tensor
      ENVIRONMENT "${settings}")
  endforeach()
  add_test(NAME client.nam52 COMMAND ${CMAKE_SOURCE_DIR}/.venv/bin/python
    ${CMAKE_SOURCE_DIR}/tests/nam52/against_oracle.py ${CMAKE_BINARY_DIR})
  add_test(NAME client.nam52_accidents COMMAND ${CMAKE_SOURCE_DIR}/.venv/bin/python
    ${CMAKE_SOURCE_DIR}/tests/nam52/accidents.py ${CMAKE_BINARY_DIR})
  add_test(NAME client.nam52_repair COMMAND ${CMAKE_SOURCE_DIR}/.venv/bin/python
    ${CMAKE_SOURCE_DIR}/tests/nam52/repair.py ${CMAKE_BINARY_DIR})
  add_test(NAME client.nam52_contract COMMAND ${CMAKE_SOURCE_DIR}/.venv/bin/python
    ${CMAKE_SOURCE_DIR}/tests/nam52/contract.py ${CMAKE_BINARY_DIR})
  set_tests_properties(client.nam52 client.nam52_accidents client.nam52_repair
    client.nam52_contract PROPERTIES
    TIMEOUT 3600 LABELS tensor ENVIRONMENT "${settings}")
endif()
