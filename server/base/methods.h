// The methods that the server has, as translation.proto and admin.proto list them.
//
// Rights, metrics, traces and the log call a method by its name, "Translate", and one of
// AdminService "AdminService/Drain".

#ifndef DRAGOMAN_SERVER_BASE_METHODS_H_
#define DRAGOMAN_SERVER_BASE_METHODS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// "Translate" and the others that clients call.
const std::vector<std::string>& ApiMethods();
// "ListModels" and the others of AdminService.
const std::vector<std::string>& AdminServiceMethods();

// "dragoman.v1.TranslationService" and the other services that clients call.
const std::vector<std::string>& ApiServices();

// "Drain" of "AdminService/Drain"; nothing if the method is not AdminService's.
std::optional<std::string_view> AdminMethodOf(std::string_view method);

// "dragoman.v1.TranslationService" has "Translate"; "" has what only other APIs over HTTP have.
std::string ServiceOf(std::string_view method);

// "dragoman.v1.TranslationService/Translate".
std::string FullNameOf(std::string_view method);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_METHODS_H_
