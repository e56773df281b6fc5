keel_fuzz(history ROOMS history key base)
