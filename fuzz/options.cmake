keel_fuzz(options ROOMS key program base)
