keel_fuzz(hlo ROOMS read program base)
