// attnscope page: the program's own page, of which a test needs only the place for a document, with what is open in it.
#include <cstdlib>

#include "core/io/base64.h"
#include "core/io/file.h"
#include "tests/cli/command.h"

using namespace attn;

namespace {

/// The assets are that folder's as long as it lives.
struct NamedAssets {
    explicit NamedAssets(const std::string& folder) {
        setenv("ATTNSCOPE_ASSETS", folder.c_str(), 1);
    }
    ~NamedAssets() { unsetenv("ATTNSCOPE_ASSETS"); }
    NamedAssets(const NamedAssets&) = delete;
    NamedAssets& operator=(const NamedAssets&) = delete;
};

void make_page(const Scratch& scratch) {
    std::filesystem::create_directory(scratch.at("web"));
    REQUIRE(write_file_atomically(scratch.at("web/attnscope-page.html"),
                                  "<body><!--document--></body>"));
}

/// RFC 4648; padding ends the text.
std::string from_base64(std::string_view text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char digit : text.substr(0, text.find('='))) {
        bits = bits << 6U | static_cast<std::uint32_t>(kDigits.find(digit));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
    }
    return bytes;
}

std::string page_of(const Scratch& scratch, const Arguments& arguments) {
    const std::string page = scratch.at("page.html");
    succeeds(joined({"page", "-o", page}, arguments));
    return *read_text_file(page);
}

}  // namespace

TEST_CASE("page: the tensors and a session that names them are in it") {
    const Scratch scratch;
    const NamedAssets assets(scratch.at(""));
    make_page(scratch);
    const std::string page = page_of(scratch, {golden("qkv.npz"), "--workspace", "heads"});
    CHECK(page.starts_with("<body><script type=\"text/x-attnscope\" data-name=\"qkv.npz\">" +
                           base64(*read_text_file(golden("qkv.npz"))) + "</script>"));
    CHECK(contains(page, R"(data-name="session.json" data-words='["session.json"]')"));
    CHECK(page.ends_with("</script>\n</body>"));
    const std::string typed = page_of(scratch, {"--sentence", "it saw it"});
    CHECK(contains(typed, "session.json"));
    CHECK_FALSE(contains(typed, ".npz"));
}

TEST_CASE("page: of a built-in model only its name is in it") {
    const Scratch scratch;
    const NamedAssets assets(scratch.at(""));
    make_page(scratch);
    const std::string page = page_of(scratch, {"stories", "--workspace", "heads"});
    const std::string session_start = R"(data-name="session.json" data-words='["session.json"]'>)";
    const auto first = page.find(session_start);
    REQUIRE(first != std::string::npos);
    CHECK(page.find("data-name") == page.rfind("data-name"));  // it is the only file
    const auto text = page.substr(first + session_start.size());
    const std::string session = from_base64(text.substr(0, text.find('<')));
    CHECK(contains(session, R"("built_in": "stories")"));
    CHECK_FALSE(contains(session, "assets"));  // no path of this machine
}

TEST_CASE("page: what it cannot be made of is said") {
    const Scratch scratch;
    const NamedAssets assets(scratch.at(""));
    CHECK(contains(ends(cli::kFailure, {"page", "-o", scratch.at("page.html")}).err,
                   "attnscope-web"));
    check_refused({"page", "-o", "page.pdf"}, ".html");
    make_page(scratch);
    check_refused({"page", ATTN_TEST_DATA "/models/gpt2", "--token-ids", "5,9", "-o",
                   scratch.at("page.html")},
                  "is a trained model");
}
