// Copyright
#include <nlohmann/json.hpp> // the tests may
