keel_fuzz(mlir ROOMS read program base)
