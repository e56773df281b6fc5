keel_fault_test(cli_marked ROOMS cli base)
