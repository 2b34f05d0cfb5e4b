#pragma once

#include "app/view/common/json.h"
#include "app/view/large/look.h"

namespace attn::view {

// What the journal and the session write of the Large workspace. Each reader takes the value under
// `key`, keeps what the value was where a part is missing, and complains to `fields`.

nlohmann::ordered_json map_to(const large::Cell& cell);
nlohmann::ordered_json map_to(const large::Head& head);
nlohmann::ordered_json map_to(const large::Search& search);
nlohmann::ordered_json map_to(const MapCamera& camera);
nlohmann::ordered_json map_to(const MapColors& colors);
nlohmann::ordered_json map_to(const large::TopChoice& top);
nlohmann::ordered_json map_to(const std::optional<large::Search>& search);

void map_from(Fields& fields, std::string_view key, large::Cell& cell);
void map_from(Fields& fields, std::string_view key, large::Head& head);
void map_from(Fields& fields, std::string_view key, large::Search& search);
void map_from(Fields& fields, std::string_view key, MapCamera& camera);
void map_from(Fields& fields, std::string_view key, MapColors& colors);
void map_from(Fields& fields, std::string_view key, large::TopChoice& top);
void map_from(Fields& fields, std::string_view key, std::optional<large::Search>& search);

/// All of the look that a session keeps: no results, nothing of the moment.
nlohmann::ordered_json large_to(const LargeLook& look);
/// From the object's own fields.
void read_large(Fields& fields, LargeLook& look);

}  // namespace attn::view
