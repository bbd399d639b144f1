# For Doxygen: turns the comment that a header begins with into the documentation of the file.
FNR == 1 { is_head = 1 }
is_head && /^\/\// { print "/" $0; next }
is_head && /^#pragma once/ { print "/// @file"; is_head = 0; next }
{ is_head = 0; print }
