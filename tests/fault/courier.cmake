keel_fault_test(courier ROOMS courier)
