# Doxygen reads headers and guides through this filter.
#
#   - The comment that a header begins with becomes the documentation of the file.
#   - "<" and "::" in a comment are shown, not taken for HTML and links.
#   - Headings of guides get the anchors that GitHub gives them, each with its page's name before it, because
#     Doxygen's are global; links to anchors follow.

function page_of(path) {
  sub(/^.*\//, "", path)
  sub(/\.md$/, "", path)
  return tolower(path)
}
function anchor_of(title) {
  title = tolower(title)
  gsub(/[^a-z0-9 _-]/, "", title)
  gsub(/ /, "-", title)
  return title
}
function print_with_links(text,   link, target, shown) {
  while (match(text, /\]\([A-Za-z0-9_.\/-]*#[a-z0-9_-]+\)/)) {
    link = substr(text, RSTART + 2, RLENGTH - 3)
    target = index(link, "#") == 1 ? page_of(FILENAME) : page_of(substr(link, 1, index(link, "#") - 1))
    shown = shown substr(text, 1, RSTART + 1) "#" target "-" substr(link, index(link, "#") + 1) ")"
    text = substr(text, RSTART + RLENGTH)
  }
  print shown text
}
# Outside of `code`.
function escaped(text,   count, parts, i, joined) {
  count = split(text, parts, "`")
  for (i = 1; i <= count; ++i) {
    if (i % 2 == 1) {
      gsub(/[<\\]/, "\\\\&", parts[i])
      gsub(/>::/, ">\\::", parts[i])
    }
    joined = joined (i > 1 ? "`" : "") parts[i]
  }
  return joined
}

FILENAME ~ /\.md$/ {
  if (/^```/) is_code = !is_code
  if (is_code || /^```/)
    print
  else if (/^##+ / && FILENAME !~ /\/(docs|bench)\/README|\/reference\//)
    print $0 " {#" page_of(FILENAME) "-" anchor_of(substr($0, index($0, " ") + 1)) "}"
  else
    print_with_links($0)
  next
}

FNR == 1 { is_head = 1 }
is_head && /^#pragma once/ { print "/// @file"; is_head = 0; next }
is_head && /^\/\// { $0 = "/" $0 }
!/^\/\// { is_head = 0 }
/^ *\/\/\// {
  # Lines that are indented behind an empty one are code.
  is_indented = /^ *\/\/\/     /
  is_example = is_indented && (was_empty || is_example)
  was_empty = /^ *\/\/\/ *$/ || is_example
  if (is_example) { print; next }
  match($0, /^ *\/\/\/<? ?/)
  print substr($0, 1, RLENGTH) escaped(substr($0, RLENGTH + 1))
  next
}
{ was_empty = 0; is_example = 0 }
match($0, /\/\/\/< /) {
  print substr($0, 1, RSTART + 4) escaped(substr($0, RSTART + 5))
  next
}
{ print }
