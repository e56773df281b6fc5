keel_fuzz(payload ROOMS engine store base)
