foreach(name read_mlir read_mlir_made read_mlir_damage program_locations)
  keel_unit_test(${name} ROOMS read program base)
endforeach()
