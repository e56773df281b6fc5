keel_fuzz(plan ROOMS store base)
