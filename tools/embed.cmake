# cmake -DTEXT=FILE -DNAME=NAME -DOUT=FILE -P embed.cmake: a text as `const char NAME[]` in C.
file(READ ${TEXT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE ${OUT} "extern const char ${NAME}[];\nconst char ${NAME}[] =\n    \"${text}\";\n")
