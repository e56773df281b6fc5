# Writes a C file with the pages of docs/causes as bytes, so that a program contains them:
#
#   cmake -DFOLDER=docs/causes -DOUT=topics.c -P KeelTopics.cmake
#
# A page may be longer than a string that C compilers must accept.
file(GLOB pages ${FOLDER}/*.md)
list(SORT pages)
set(bytes "")
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(word ${page} NAME_WE)
  if(word STREQUAL "README")
    continue()
  endif()
  file(READ ${page} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(APPEND bytes "static const unsigned char ${word}_text[] = {${hex}};\n")
  string(APPEND rows "    {\"${word}\", {(const char *)${word}_text, sizeof ${word}_text}},\n")
endforeach()
file(WRITE ${OUT} "#include \"text/topics.h\"\n\n${bytes}\n"
  "const keel_topic_t keel_topics[] = {\n${rows}};\n"
  "const size_t keel_topic_count = sizeof keel_topics / sizeof *keel_topics;\n")
