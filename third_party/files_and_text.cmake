# fmt, libzip, utf8proc, PCRE2, libpng, zlib.

attn_find_package(fmt fmt::fmt fmt 8)
if(NOT TARGET attn::fmt)
  set(FMT_INSTALL OFF)
  attn_fetch(fmt https://github.com/fmtlib/fmt.git 10.2.1)
  # Clang 21 (Emscripten 6) refuses the compile-time check of the format strings in fmt 10's own sources.
  target_compile_definitions(fmt PRIVATE FMT_CONSTEVAL=)
  attn_provide(fmt fmt::fmt "upstream 10.2.1")
endif()

# By pkg-config: Debian's CMake config of libzip names tools that are in other packages, and fails.
attn_find_module(zip libzip>=1.7)
if(NOT TARGET attn::zip)
  foreach(part BUILD_TOOLS BUILD_REGRESS BUILD_OSSFUZZ BUILD_EXAMPLES BUILD_DOC LIBZIP_DO_INSTALL
               ENABLE_BZIP2 ENABLE_LZMA ENABLE_ZSTD ENABLE_COMMONCRYPTO ENABLE_GNUTLS ENABLE_MBEDTLS
               ENABLE_OPENSSL)
    set(${part} OFF)
  endforeach()
  attn_fetch(libzip https://github.com/nih-at/libzip.git v1.10.1)
  attn_provide(zip libzip::zip "upstream 1.10.1")
endif()

attn_find_module(utf8proc libutf8proc>=2.6)
if(NOT TARGET attn::utf8proc)
  set(UTF8PROC_INSTALL OFF)
  set(UTF8PROC_ENABLE_TESTING OFF)
  attn_fetch(utf8proc https://github.com/JuliaStrings/utf8proc.git v2.9.0)
  attn_provide(utf8proc utf8proc "upstream 2.9.0")
endif()

attn_find_module(pcre2 libpcre2-8>=10.40)
if(NOT TARGET attn::pcre2)
  foreach(part BUILD_PCRE2GREP BUILD_TESTS SUPPORT_JIT SUPPORT_LIBZ SUPPORT_LIBBZ2 SUPPORT_LIBREADLINE SUPPORT_LIBEDIT)
    set(PCRE2_${part} OFF)
  endforeach()
  set(BUILD_STATIC_LIBS ON)
  attn_fetch(pcre2 https://github.com/PCRE2Project/pcre2.git pcre2-10.44)
  attn_provide(pcre2 pcre2-8-static "upstream 10.44")
endif()

# Only from the system: cairo has it too, and two of them would not go into one program.
attn_find_module(png libpng>=1.6)
if(NOT TARGET attn::png)
  message(FATAL_ERROR "libpng 1.6 or later is required: install libpng-dev and pkg-config")
endif()

# Likewise: libpng and libzip bring it.
attn_find_module(zlib zlib>=1.2.11)
if(NOT TARGET attn::zlib)
  message(FATAL_ERROR "zlib 1.2.11 or later is required: install zlib1g-dev and pkg-config")
endif()
