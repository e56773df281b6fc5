keel_fuzz(explain ROOMS explain key read program base)
