keel_unit_test(courier_backend ROOMS courier)
keel_unit_test(courier_netrc ROOMS courier)
