keel_fuzz(probe ROOMS probe bundle pjrt key settings base)
