keel_fuzz(probe ROOMS probe bundle pjrt explain key settings base)
