keel_fuzz(figures ROOMS report metrics journal base)
