keel_fuzz(source ROOMS explain host program base)
