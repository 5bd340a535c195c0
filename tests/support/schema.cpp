// SPDX-License-Identifier: Apache-2.0
#include "support/schema.h"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <cstdlib>
#include <fstream>

namespace pinscope::test {

std::string check_schema(const nlohmann::json& document, const std::string& name) {
    const char* elsewhere = std::getenv("PINSCOPE_SCHEMAS"); // NOLINT(concurrency-mt-unsafe)
    const std::string folder = elsewhere != nullptr ? elsewhere : PINSCOPE_SCHEMAS;
    std::ifstream file(folder + "/" + name);
    if (!file)
        return "there is no schema " + folder + "/" + name;
    const nlohmann::json text = nlohmann::json::parse(file);
    valijson::Schema schema;
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
    valijson::ValidationResults results;
    valijson::Validator validator;
    if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results))
        return {};
    std::string problems;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
        for (const auto& part : error.context)
            problems += part;
        problems += ": " + error.description + "\n";
    }
    return problems;
}

} // namespace pinscope::test
