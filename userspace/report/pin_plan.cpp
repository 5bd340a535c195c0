// SPDX-License-Identifier: Apache-2.0
#include "report/pin_plan.h"

#include "base/bytes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace pinscope::report {

std::string plan_text(const PinQuestion& question, const std::vector<PlanRow>& rows) {
    const auto& soft = question.memlock_soft;
    std::string out = fmt::format(
        "Would try, under a memlock limit of {}{}, nothing having been tried now:\n\n", limit_text(soft),
        question.cap_ipc_lock ? (*question.cap_ipc_lock ? " with CAP_IPC_LOCK" : " without CAP_IPC_LOCK")
                              : "");
    size_t width = 0;
    for (const auto& row : rows)
        width = std::max(width, row.mechanism.size());
    const auto line = [&](std::string_view name, std::string_view size, const auto& count,
                          std::string_view what) {
        out += fmt::format("{:<{}}{:>10}{:>7}  {}\n", name, width, size, count, what);
    };
    line("MECHANISM", "SIZE", "COUNT", "WHAT");
    for (const auto& row : rows)
        line(row.mechanism, format_bytes(row.size_bytes), row.count,
             row.needs.empty() ? row.summary : fmt::format("{} (needs {})", row.summary, row.needs));
    return out;
}

nlohmann::ordered_json plan_json(const PinQuestion& question, const std::vector<PlanRow>& rows) {
    nlohmann::ordered_json out;
    out["schema"] = "pinscope.pin-plan/1";
    out["tool_version"] = PINSCOPE_VERSION;
    const auto& soft = question.memlock_soft;
    out["memlock_soft_bytes"] =
        soft.unlimited ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(soft.bytes);
    out["memlock_soft_unlimited"] = soft.unlimited;
    out["cap_ipc_lock"] = question.cap_ipc_lock ? nlohmann::ordered_json(*question.cap_ipc_lock)
                                                : nlohmann::ordered_json(nullptr);
    auto& trials = out["trials"] = nlohmann::ordered_json::array();
    for (const auto& row : rows)
        trials.push_back(
            {{"mechanism", row.mechanism}, {"size_bytes", row.size_bytes}, {"count", row.count}});
    return out;
}

} // namespace pinscope::report
