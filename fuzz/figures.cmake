keel_fuzz(figures ROOMS text why run metrics journal base)
