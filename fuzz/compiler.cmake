keel_fuzz(compiler ROOMS compiler target pjrt base)
