# Writes the file TEXT as a C++ string literal to LITERAL.
file(READ "${TEXT}" text)
file(WRITE "${LITERAL}" "R\"text(${text})text\"\n")
