foreach(name history history_file history_line history_rehearsal history_sketch history_table)
  keel_unit_test(${name} ROOMS history key read program base)
endforeach()
