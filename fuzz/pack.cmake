keel_fuzz(pack ROOMS pack journal key read program base)
