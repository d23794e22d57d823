// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The numbers of the fields in pprof's profile.proto.
#pragma once

#include <protozero/types.hpp>

namespace nodewise::exports {

// clang-format off
namespace profile_field {
inline constexpr protozero::pbf_tag_type
    sample_type = 1, sample = 2, mapping = 3, location = 4, function = 5, string_table = 6,
    duration_nanos = 10, comment = 13, default_sample_type = 14;
} // namespace profile_field
namespace value_type_field {
inline constexpr protozero::pbf_tag_type type = 1, unit = 2;
} // namespace value_type_field
namespace sample_field {
inline constexpr protozero::pbf_tag_type location_id = 1, value = 2, label = 3;
} // namespace sample_field
namespace label_field {
inline constexpr protozero::pbf_tag_type key = 1, str = 2;
} // namespace label_field
namespace mapping_field {
inline constexpr protozero::pbf_tag_type
    id = 1, filename = 5, build_id = 6, has_functions = 7, has_filenames = 8, has_line_numbers = 9,
    has_inline_frames = 10;
} // namespace mapping_field
namespace location_field {
inline constexpr protozero::pbf_tag_type id = 1, mapping_id = 2, address = 3, line = 4;
} // namespace location_field
namespace line_field {
inline constexpr protozero::pbf_tag_type function_id = 1, line = 2;
} // namespace line_field
namespace function_field {
inline constexpr protozero::pbf_tag_type id = 1, name = 2, system_name = 3, filename = 4;
} // namespace function_field
// clang-format on

} // namespace nodewise::exports
