keel_unit_test(write_mlir ROOMS read program base)
