# embed_text(TARGET HEADER SYMBOL FILE [SYMBOL FILE]...): the text of each FILE becomes the std::string_view SYMBOL of TARGET, in the
# namespace kro, as HEADER declares it. Files are taken as they are, but for scripts and style sheets: those lose indentation and comment lines.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(embed_text target header)
    set(source ${PROJECT_BINARY_DIR}/embedded/${header}.cpp)
    set(files ${ARGN})
    list(FILTER files INCLUDE REGEX "\\.")
    string(REPLACE ";" "|" pairs "${ARGN}")
    add_custom_command(
      OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -D HEADER=${header} -D "PAIRS=${pairs}" -D OUTPUT=${source} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      VERBATIM)
    target_sources(${target} PRIVATE ${source})
  endfunction()
  return()
endif()

# As a script, when something is built.
set(text "#include \"${HEADER}\"\n\nnamespace kro {\n\n")
string(REPLACE "|" ";" PAIRS "${PAIRS}")
while(PAIRS)
  list(POP_FRONT PAIRS symbol file)
  file(READ ${file} content)
  if(file MATCHES "\\.(js|css)$")
    string(REGEX REPLACE "\n +" "\n" content "\n${content}")
    string(REGEX REPLACE "\n(//[^\n]*)?(\n+(//[^\n]*)?)*\n" "\n" content "${content}")
  endif()
  string(FIND "${content}" ")embedded\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file}: the text )embedded\" would end the literal that it becomes")
  endif()
  string(APPEND text "std::string_view const ${symbol} = R\"embedded(${content})embedded\";\n\n")
endwhile()
string(APPEND text "}  // namespace kro\n")
file(WRITE ${OUTPUT} "${text}")
