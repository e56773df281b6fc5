keel_fault_test(lint ROOMS lint base)
