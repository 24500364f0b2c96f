// deploy/package/completion.bash, as a part of the program.

#ifndef DRAGOMAN_CLIENT_COMPLETION_SCRIPT_H_
#define DRAGOMAN_CLIENT_COMPLETION_SCRIPT_H_

namespace dragoman {

extern const char kCompletionScript[];

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_COMPLETION_SCRIPT_H_
