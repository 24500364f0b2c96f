// Tags of template languages in HTML and Markdown: what a program does before anybody reads.
//
//   {% if cat %}   {# a comment #}   <% if cat %>   <?php echo $cat; ?>
//   {{< figure >}}   {{% notice %}}                     Hugo's shortcodes
//
// What prints a value, {{ cat }}, is no such tag but part of its sentence.

#ifndef DRAGOMAN_ENGINE_BASE_TEMPLATE_TAGS_H_
#define DRAGOMAN_ENGINE_BASE_TEMPLATE_TAGS_H_

#include <cstddef>
#include <string_view>

namespace dragoman {

// The size of the template tag that the text begins with; 0 if it does not.
size_t TemplateTagSize(std::string_view text);

// The first byte at or after `at` that begins a template tag; the size of the text if none does.
size_t FindTemplateTag(std::string_view text, size_t at);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_TEMPLATE_TAGS_H_
