# Writes the file TEXT as a C++ string literal to LITERAL. A line that includes a file of KERNELS stands for that
# file, which includes nothing itself.
file(READ "${TEXT}" text)
string(REGEX MATCHALL "#include \"[^\"]+\"\n" lines "${text}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "#include \"([^\"]+)\"\n" "\\1" name "${line}")
  file(READ "${KERNELS}/${name}" part)
  string(REPLACE "${line}" "${part}" text "${text}")
endforeach()
file(WRITE "${LITERAL}" "R\"text(${text})text\"\n")
