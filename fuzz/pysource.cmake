keel_fuzz(pysource ROOMS pysource base)
