// Reports that serve nothing.
//
//   dragoman-server --check DIR             what a model is, and whether it can be served
//     --without-weights                     the same before its weights are there
//   dragoman-server ... --check-config      what these settings would serve, and what is wrong

#ifndef DRAGOMAN_SERVER_CHECK_H_
#define DRAGOMAN_SERVER_CHECK_H_

#include <ostream>
#include <string>

#include "server/config/config.h"

namespace dragoman {

// Prints the report on a model directory.  Returns whether it can be served or, before its weights
// are there, whether nothing speaks against it.
bool CheckModel(const std::string& directory, bool without_weights, std::ostream* out);

// Reads all that the options name, except for the weights, and prints a line for each model and for
// each error.  Returns whether there is no error.
bool CheckConfig(const ServerOptions& options, std::ostream* out);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CHECK_H_
