#include "server/run.h"

int main(int argc, char** argv) { return dragoman::RunServer(argc, argv); }
