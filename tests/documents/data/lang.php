<?php
/* A remark */
return [
    'hello' => 'Hello, :name! It\'s you.',
    'pages' => ['next' => "Next $page\n", 'last' => 'Last'],
    'count' => 12,
];
