#include "app/cli/terminal.h"

#include <unistd.h>

#include <iostream>
#include <streambuf>

#include "core/text.h"

namespace attn::cli {
namespace {

/// Hands on what is printable. Each write is a text of its own: a code point is not cut between two of them.
class PrintableBuffer : public std::streambuf {
  public:
    explicit PrintableBuffer(std::streambuf& to) : to_(to) {}

  protected:
    int_type overflow(int_type next) override {
        if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
        const char one = traits_type::to_char_type(next);
        return xsputn(&one, 1) == 1 ? next : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize count) override {
        const std::string safe = printable({text, static_cast<std::size_t>(count)});
        const auto size = static_cast<std::streamsize>(safe.size());
        return to_.sputn(safe.data(), size) == size ? count : 0;
    }
    int sync() override { return to_.pubsync(); }

  private:
    std::streambuf& to_;
};

/// The buffer stays until the streams are flushed, which is after every object of the program is gone.
void make_printable(std::ostream& stream) {
    stream.rdbuf(new PrintableBuffer(*stream.rdbuf()));  // NOLINT: never deleted
}

}  // namespace

void write_printable() {
    make_printable(std::cerr);
    if (::isatty(STDOUT_FILENO) != 0) make_printable(std::cout);
}

}  // namespace attn::cli
