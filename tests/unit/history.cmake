foreach(name history history_file)
  keel_unit_test(${name} ROOMS history key read program base)
endforeach()
