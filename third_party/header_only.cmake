# Eigen, CLI11, JSON, tl::expected, stb.

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

# Headers only, <stb_image_write.h>: one of our files compiles the implementation, as a static one.
if(NOT "stb" IN_LIST ATTN_FETCH)
  find_path(ATTN_STB_DIR stb_image_write.h PATH_SUFFIXES stb)
endif()
if(ATTN_STB_DIR AND NOT "stb" IN_LIST ATTN_FETCH)
  attn_provide_headers(stb "system" ${ATTN_STB_DIR})
else()
  attn_fetch(stb https://github.com/nothings/stb.git 8b5f1f37b5b75829fc72d38e7b5d4bcbf8a26d55 SOURCE_SUBDIR unused)
  attn_provide_headers(stb "upstream 2022-09-08" ${stb_SOURCE_DIR})
endif()
