// The program dragoman-server: serves translation models until it is told to stop.  See --help.

#ifndef DRAGOMAN_SERVER_RUN_H_
#define DRAGOMAN_SERVER_RUN_H_

namespace dragoman {

// main().  Returns the exit code.
int RunServer(int argc, char** argv);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_RUN_H_
