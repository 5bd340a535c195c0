// SPDX-License-Identifier: Apache-2.0
#include "support/fake_tree.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace pinscope::test {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() : path_((fs::temp_directory_path() / "pinscope-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
        throw std::runtime_error("cannot make a temporary folder");
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

FakeTree::FakeTree(std::initializer_list<std::pair<std::string, std::string>> files) {
    for (const auto& [path, text] : files)
        add(path, text);
}

void FakeTree::add(const std::string& path, const std::string& text) {
    const fs::path file = root() + "/" + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

} // namespace pinscope::test
