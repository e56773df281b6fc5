keel_fuzz(key ROOMS key read program base)
