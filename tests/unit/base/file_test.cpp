// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "support/fake_tree.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>

namespace pinscope {
namespace {

TEST(ReadLink, TheTargetAsItStands) {
    const test::FakeTree tree({{"/file", "text"}});
    const std::string link = tree.root() + "/link";
    ASSERT_EQ(::symlink("../not/there", link.c_str()), 0);
    EXPECT_EQ(read_link(link), "../not/there");
}

TEST(ReadLink, NoLinkIsAnError) {
    const test::FakeTree tree({{"/file", "text"}});
    EXPECT_EQ(read_link(tree.root() + "/file").error().number, EINVAL);
    EXPECT_EQ(read_link(tree.root() + "/nothing").error().number, ENOENT);
}

} // namespace
} // namespace pinscope
