// SPDX-License-Identifier: Apache-2.0
// The one place that compiles libfmt: Debian has no static library of it, and header-only use costs seconds
// in every file. What the project's files leave undefined is instantiated here.
#include <fmt/format-inl.h>

namespace fmt_detail = fmt::detail;

template void fmt_detail::vformat_to<char>(fmt_detail::buffer<char>&, fmt::string_view,
                                           fmt::basic_format_args<fmt::buffer_context<char>>,
                                           fmt_detail::locale_ref);
template fmt_detail::thousands_sep_result<char> fmt_detail::thousands_sep_impl<char>(fmt_detail::locale_ref);
template char fmt_detail::decimal_point_impl<char>(fmt_detail::locale_ref);
template void fmt_detail::buffer<char>::append(const char*, const char*);
