# Eigen, CLI11, JSON, tl::expected.

# No version here: Eigen 5 rejects a request for 3.4.
attn_find_package(eigen Eigen3::Eigen Eigen3)
if(NOT TARGET attn::eigen)
  attn_fetch(eigen https://gitlab.com/libeigen/eigen.git 3.4.0 SOURCE_SUBDIR unused)
  attn_provide_headers(eigen "upstream 3.4.0" ${eigen_SOURCE_DIR})
endif()

attn_find_package(cli11 CLI11::CLI11 CLI11 2.1)
if(NOT TARGET attn::cli11)
  attn_fetch(cli11 https://github.com/CLIUtils/CLI11.git v2.4.2 SOURCE_SUBDIR unused)
  attn_provide_headers(cli11 "upstream 2.4.2" ${cli11_SOURCE_DIR}/include)
endif()

attn_find_package(json nlohmann_json::nlohmann_json nlohmann_json 3.10)
if(NOT TARGET attn::json)
  attn_fetch(json https://github.com/nlohmann/json.git v3.11.3 SOURCE_SUBDIR unused)
  attn_provide_headers(json "upstream 3.11.3" ${json_SOURCE_DIR}/include)
endif()

attn_find_package(expected tl::expected tl-expected 1.0)
if(NOT TARGET attn::expected)
  attn_fetch(expected https://github.com/TartanLlama/expected.git v1.1.0 SOURCE_SUBDIR unused)
  attn_provide_headers(expected "upstream 1.1.0" ${expected_SOURCE_DIR}/include)
endif()
