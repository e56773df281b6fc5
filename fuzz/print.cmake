keel_fuzz(print ROOMS read program base)
