// SPDX-License-Identifier: Apache-2.0
// Compares the numbers of a text with those of the JSON document that says the same.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace pinscope::test {

// Numbers of the text, with their unit where one of ours follows, that no value of the document accounts for:
// neither a number of it, written out or as a size or a time, nor a part of one of its strings.
std::vector<std::string> numbers_missing_from_json(const std::string& text,
                                                   const nlohmann::ordered_json& document);

// Paths of numbers in the document that are not written out in the text.
std::vector<std::string> numbers_missing_from_text(const nlohmann::ordered_json& document,
                                                   const std::string& text);

} // namespace pinscope::test
