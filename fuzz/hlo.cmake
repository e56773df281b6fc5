keel_fuzz(hlo ROOMS key read program base)
