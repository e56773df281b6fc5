keel_fuzz(page ROOMS page text why run journal program base)
