// Copyright
#include <nlohmann/json.hpp>
