keel_fuzz(components ROOMS explain read key program base)
