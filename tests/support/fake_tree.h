// SPDX-License-Identifier: Apache-2.0
// A host's files as a test declares them, in a temporary folder.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace pinscope::test {

// A folder that is removed, with all that is in it, when the object is.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

class FakeTree {
  public:
    // Paths from the tree's root, and what the files hold; folders on the way are made.
    FakeTree(std::initializer_list<std::pair<std::string, std::string>> files);

    const std::string& root() const { return folder_.path(); }
    void add(const std::string& path, const std::string& text);

  private:
    TemporaryFolder folder_;
};

} // namespace pinscope::test
