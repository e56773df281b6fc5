keel_fuzz(arrival ROOMS courier store sign base)
