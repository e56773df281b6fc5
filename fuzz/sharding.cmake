keel_fuzz(sharding ROOMS signature program base)
