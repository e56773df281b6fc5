keel_fuzz(config ROOMS settings base)
