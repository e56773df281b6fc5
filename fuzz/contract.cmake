keel_fuzz(contract ROOMS contract base)
