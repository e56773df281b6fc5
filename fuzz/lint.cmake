keel_fuzz(lint ROOMS lint pysource base)
