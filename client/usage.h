// Help with command lines that are nearly right.

#ifndef DRAGOMAN_CLIENT_USAGE_H_
#define DRAGOMAN_CLIENT_USAGE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace dragoman {

// Allows --server before the command: {"--server", "mt:1", "translate"} becomes {"translate",
// "--server", "mt:1"}.
void MoveServerBehindCommand(std::vector<std::string>* arguments);

// What is wrong with a command line that `app` could not parse, what may have been meant, and where
// to read more; one or two lines.
std::string DescribeUsageError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_USAGE_H_
