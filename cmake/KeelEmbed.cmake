# Embeds a text file in a room as a C string:
#
#   keel_embed(page page.css keel_page_style)
#
# defines `const char keel_page_style[]`, which a header of the room declares. Of a style sheet the
# comments and empty lines are left out, and an indented line is joined to the one before.
function(keel_embed room file symbol)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DFILE=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DSYMBOL=${symbol}
      -DOUT=${out} -P ${CMAKE_SOURCE_DIR}/cmake/KeelEmbed.cmake
    DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/KeelEmbed.cmake VERBATIM)
  target_sources(keel_${room} PRIVATE ${out})
endfunction()

# As a script: writes that file.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ ${FILE} text)
  if(FILE MATCHES "[.]css$")
    string(REGEX REPLACE "/[*][^*]*[*]/\n*" "" text "${text}")
    string(REGEX REPLACE "\n +" "" text "${text}")
    string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  endif()
  # As bytes: a text may be longer than a string that C compilers must accept.
  string(HEX "${text}" hex)
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  file(WRITE ${OUT} "extern const char ${SYMBOL}[];\n\nconst char ${SYMBOL}[] = {${hex}0};\n")
endif()
