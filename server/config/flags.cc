#include "server/config/flags.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "server/config/config.h"
#include "server/config/settings.h"

namespace dragoman {
namespace {

void AddModel(const std::string& value, Flags* flags) {
  const size_t equals = value.find('=');
  if (equals == std::string::npos) {
    flags->error.Update(
        InvalidArgumentError("--model: \"", value, "\" is not of the form NAME=DIR[,lora=DIR]"));
    return;
  }
  v1::ModelSource* model = flags->config.add_models();
  model->set_name(value.substr(0, equals));
  constexpr char kLora[] = ",lora=";
  const size_t lora = std::min(value.rfind(kLora), value.size());
  model->set_directory(value.substr(equals + 1, lora - equals - 1));
  if (lora < value.size()) model->set_lora(value.substr(lora + sizeof(kLora) - 1));
}

void AddShortlist(const std::string& value, Flags* flags) {
  const size_t equals = value.find('=');
  const absl::StatusOr<ShortlistSource> source =
      ParseShortlistSource(equals == std::string::npos ? "" : value.substr(equals + 1));
  if (!source.ok()) {
    flags->error.Update(InvalidArgumentError("--shortlist: \"", value,
                                             "\" is not of the form NAME=FILE[:FIRST,BEST]"));
    return;
  }
  v1::ModelShortlist* shortlist = flags->config.add_shortlists();
  shortlist->set_model(value.substr(0, equals));
  shortlist->set_file(source->file);
  if (source->first.has_value()) shortlist->set_first(*source->first);
  if (source->best.has_value()) shortlist->set_best(*source->best);
}

void AddCanary(const std::string& value, Flags* flags) {
  const size_t equals = value.find('='), colon = value.rfind(':');
  double percent = 0;
  if (equals == std::string::npos || colon == std::string::npos || colon < equals ||
      !absl::SimpleAtod(value.substr(colon + 1), &percent)) {
    flags->error.Update(
        InvalidArgumentError("--canary: \"", value, "\" is not of the form NAME=DIR:PERCENT"));
    return;
  }
  v1::ModelCanary* const canary = flags->config.add_canaries();
  canary->set_model(value.substr(0, equals));
  canary->set_directory(value.substr(equals + 1, colon - equals - 1));
  canary->set_percent(percent);
}

// Of glossaries or translation memories.
void AddDefault(const std::string& flag, const std::string& value,
                google::protobuf::RepeatedPtrField<v1::DefaultIds>* defaults, Flags* flags) {
  const size_t equals = value.find('=');
  const std::string target = value.substr(0, equals);
  const size_t at = target.rfind('@');
  if (equals == std::string::npos || equals + 1 == value.size()) {
    flags->error.Update(InvalidArgumentError("--", flag, ": \"", value,
                                             "\" is not of the form [PRINCIPAL@]MODEL=ID[,ID]"));
    return;
  }
  v1::DefaultIds* const by_default = defaults->Add();
  if (at != target.npos) by_default->set_principal(target.substr(0, at));
  by_default->set_model(at == target.npos ? target : target.substr(at + 1));
  for (const absl::string_view id : absl::StrSplit(value.substr(equals + 1), ',')) {
    by_default->add_ids(std::string(id));
  }
}

// Adds one value of a flag that may be repeated.
void AddElement(const Setting& setting, const std::string& value, Flags* flags) {
  const std::string flag = setting.Flag();
  if (flag == "model") return AddModel(value, flags);
  if (flag == "shortlist") return AddShortlist(value, flags);
  if (flag == "canary") return AddCanary(value, flags);
  if (flag == "default-glossary") {
    return AddDefault(flag, value, flags->config.mutable_default_glossaries(), flags);
  }
  if (flag == "default-memory") {
    return AddDefault(flag, value, flags->config.mutable_default_memories(), flags);
  }
  flags->config.GetReflection()->AddString(&flags->config, setting.Field(), value);
}

// A variable of the environment has all values in one, separated by semicolons.
CLI::Option* AddListFlag(CLI::App* app, const Setting& setting, Flags* flags) {
  return app
      ->add_option_function<std::vector<std::string>>(
          "--" + setting.Flag(),
          [&setting, flags](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              for (const absl::string_view one : absl::StrSplit(value, ';', absl::SkipEmpty())) {
                AddElement(setting, std::string(one), flags);
              }
            }
          },
          setting.help)
      ->allow_extra_args(false);
}

// Values of type T, which CLI11 checks, are written to the field by `set`.
template <typename T>
CLI::Option* AddTyped(CLI::App* app, const Setting& setting, Flags* flags,
                      void (google::protobuf::Reflection::*set)(
                          google::protobuf::Message*, const google::protobuf::FieldDescriptor*, T)
                          const) {
  return app->add_option_function<T>(
      "--" + setting.Flag(),
      [&setting, flags, set](const T& value) {
        (flags->config.GetReflection()->*set)(&flags->config, setting.Field(), value);
      },
      setting.help);
}

CLI::Option* AddFlag(CLI::App* app, const Setting& setting, Flags* flags) {
  using google::protobuf::FieldDescriptor;
  using google::protobuf::Reflection;
  if (setting.kind == SettingKind::kList) return AddListFlag(app, setting, flags);
  if (setting.kind == SettingKind::kSwitch) {
    return app
        ->add_option_function<std::string>(
            "--" + setting.Flag(),
            [&setting, flags](const std::string& value) {
              bool on = true;  // "--small" is "--small=true"
              if (!value.empty() && !CLI::detail::lexical_cast(value, on)) {
                flags->error.Update(InvalidArgumentError("--", setting.Flag(), ": \"", value,
                                                         "\" is neither true nor false"));
              }
              flags->config.GetReflection()->SetBool(&flags->config, setting.Field(), on);
            },
            setting.help)
        ->expected(0, 1);
  }
  if (setting.kind == SettingKind::kNumber) {
    return setting.Field()->cpp_type() == FieldDescriptor::CPPTYPE_INT64
               ? AddTyped<int64_t>(app, setting, flags, &Reflection::SetInt64)
               : AddTyped<int32_t>(app, setting, flags, &Reflection::SetInt32);
  }
  return app->add_option_function<std::string>(
      "--" + setting.Flag(),
      [&setting, flags](const std::string& value) {
        flags->error.Update(SetValue(setting, value, &flags->config));
      },
      setting.help);
}

}  // namespace

void AddFlags(CLI::App* app, Flags* flags) {
  app->add_option("--config", flags->config_file,
                  "Reads these settings from a file (text format of dragoman.v1.ServerConfig); "
                  "flags take precedence")
      ->type_name("FILE")
      ->envname("DRAGOMAN_CONFIG");
  for (const Setting& setting : Settings()) {
    const std::string shown = setting.otherwise != nullptr ? setting.otherwise : setting.value;
    // CLI11 would take the default_str of a switch for the value of one without a value.
    AddFlag(app, setting, flags)
        ->type_name(shown.empty() ? setting.type : absl::StrCat(setting.type, "=", shown))
        ->envname(setting.Variable());
  }
  app->add_option("--check", flags->errand.check,
                  "Reports on a model directory, without serving it: what it is, what is missing "
                  "or unused, estimated memory and speed")
      ->type_name("DIR");
  app->add_flag("--without-weights", flags->errand.without_weights,
                "With --check: whether the files beside the weights, which are not there yet, "
                "describe a model that can be served");
  app->add_flag("--check-config", flags->errand.check_config,
                "Reports what these settings would serve and what is wrong with them, without "
                "serving; the exit code is 0 only if nothing is");
  app->add_option("--plan", flags->errand.plan,
                  "Measures the default model on this machine for some seconds, and prints the "
                  "cores and the memory that a load needs: 200sentences/s,words=25,p99=500ms or "
                  "50000words/min (docs/load.md)")
      ->type_name("LOAD");
  app->add_option("--import-glossaries", flags->errand.import_glossaries,
                  "Imports the glossaries that a server up to version 0.1 kept in this directory "
                  "into --store, without serving, and says what it read (docs/store.md)")
      ->type_name("DIR");
  app->add_option("--import-memories", flags->errand.import_memories,
                  "The same for the translation memories of a directory")
      ->type_name("DIR");
}

}  // namespace dragoman
