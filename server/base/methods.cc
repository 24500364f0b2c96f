#include "server/base/methods.h"

#include <google/protobuf/descriptor.h>

#include "absl/strings/str_cat.h"
#include "dragoman/v1/admin.pb.h"
#include "dragoman/v1/translation.pb.h"

namespace dragoman {
namespace {

using google::protobuf::FileDescriptor;

constexpr std::string_view kAdminPrefix = "AdminService/";

const FileDescriptor& ApiFile() { return *v1::TranslateRequest::descriptor()->file(); }
const FileDescriptor& AdminFile() { return *v1::DrainRequest::descriptor()->file(); }

std::vector<std::string> MethodsIn(const FileDescriptor& file) {
  std::vector<std::string> names;
  for (int i = 0; i < file.service_count(); ++i) {
    for (int k = 0; k < file.service(i)->method_count(); ++k) {
      names.push_back(file.service(i)->method(k)->name());
    }
  }
  return names;
}

}  // namespace

const std::vector<std::string>& ApiMethods() {
  static const auto& methods = *new std::vector<std::string>(MethodsIn(ApiFile()));
  return methods;
}

const std::vector<std::string>& AdminServiceMethods() {
  static const auto& methods = *new std::vector<std::string>(MethodsIn(AdminFile()));
  return methods;
}

const std::vector<std::string>& ApiServices() {
  static const auto& services = *new std::vector<std::string>([] {
    std::vector<std::string> names;
    for (int i = 0; i < ApiFile().service_count(); ++i) {
      names.push_back(ApiFile().service(i)->full_name());
    }
    return names;
  }());
  return services;
}

std::optional<std::string_view> AdminMethodOf(std::string_view method) {
  if (!method.starts_with(kAdminPrefix)) return std::nullopt;
  return method.substr(kAdminPrefix.size());
}

std::string ServiceOf(std::string_view method) {
  if (method == "StreamCoreMetrics") return "xds.service.orca.v3.OpenRcaService";
  const std::optional<std::string_view> of_admin = AdminMethodOf(method);
  const FileDescriptor& file = of_admin.has_value() ? AdminFile() : ApiFile();
  const std::string name(of_admin.value_or(method));
  for (int i = 0; i < file.service_count(); ++i) {
    if (file.service(i)->FindMethodByName(name) != nullptr) return file.service(i)->full_name();
  }
  return "";
}

std::string FullNameOf(std::string_view method) {
  return absl::StrCat(ServiceOf(method), "/", std::string(AdminMethodOf(method).value_or(method)));
}

}  // namespace dragoman
