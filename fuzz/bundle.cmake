keel_fuzz(bundle ROOMS bundle base)
