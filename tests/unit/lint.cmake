keel_unit_test(lint ROOMS lint base)
