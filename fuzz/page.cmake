keel_fuzz(page ROOMS page report journal program base)
