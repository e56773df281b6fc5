keel_fuzz(journal ROOMS text why run journal base)
