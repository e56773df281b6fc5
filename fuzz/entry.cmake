keel_fuzz(entry ROOMS store base)
