student-ssru lex.s2t
ein a 0.5
Haus house 0.25
NULL a 1
ein a 1e400
x y
