keel_unit_test(courier_backend ROOMS courier)
