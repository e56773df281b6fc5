foreach(name history history_file history_line)
  keel_unit_test(${name} ROOMS history key read program base)
endforeach()
