keel_fuzz(signature ROOMS signature read program base)
