keel_fuzz(target ROOMS target pjrt base)
