keel_unit_test(html ROOMS report journal read program base)
keel_unit_test(html_source ROOMS report journal base)
