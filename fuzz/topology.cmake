keel_fuzz(topology ROOMS pjrt base)
