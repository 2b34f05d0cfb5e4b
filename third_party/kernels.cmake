# Highway (SIMD, dispatched at run time), oneTBB (threads).

attn_find_package(hwy hwy::hwy hwy 1.0.3)
if(NOT TARGET attn::hwy)
  foreach(part HWY_ENABLE_CONTRIB HWY_ENABLE_EXAMPLES HWY_ENABLE_TESTS HWY_ENABLE_INSTALL)
    set(${part} OFF)
  endforeach()
  attn_fetch(hwy https://github.com/google/highway.git 1.0.7)
  attn_provide(hwy hwy "upstream 1.0.7")
endif()

attn_find_package(tbb TBB::tbb TBB 2021.5)
if(NOT TARGET attn::tbb)
  foreach(part TBB_TEST TBB_EXAMPLES TBB_STRICT TBB_INSTALL TBBMALLOC_BUILD)
    set(${part} OFF)
  endforeach()
  attn_fetch(tbb https://github.com/oneapi-src/oneTBB.git v2021.12.0)
  attn_provide(tbb TBB::tbb "upstream 2021.12.0")
endif()
