keel_fuzz(needs ROOMS needs key read program base)
