### A remark
hello = Hello, { $name }!
    .title = A greeting
-brand = Firefox
dogs = { $count ->
    [one] One dog
   *[other] { $count } dogs
}
long =
    The first line
    and the second.
