keel_fuzz(journal ROOMS report journal base)
