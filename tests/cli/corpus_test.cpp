// `attnscope heads --texts` and `attnscope merge`. What is computed is held against single texts in corpus.py.
#include <fstream>

#include <nlohmann/json.hpp>

#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/files/open.h"
#include "app/window/session.h"
#include "app/workspaces/heads/state.h"
#include "core/corpus/file.h"
#include "core/io/json.h"
#include "tests/cli/command.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

std::string bytes_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// 200 texts of letters; 3 is empty, 70 too long, 130 only spaces.
std::string many_lines() {
    std::string lines;
    for (int n = 0; n < 200; ++n) {
        std::string line;
        for (int k = 0; k < 2 + n % 9; ++k) line += "abc a"[(n * 7 + k * k) % 5];
        if (n == 3) line.clear();
        if (n == 70) line = std::string(40, 'c');
        if (n == 130) line = "  \t ";
        lines += line + (n % 2 == 0 ? "\n" : "\r\n");
    }
    return lines;
}

struct Corpus {
    Scratch scratch;
    std::string model = test::gpt2_folder(scratch).string();
    std::string texts = scratch.at("lines.txt");
    Corpus() { std::ofstream(texts) << many_lines(); }
    std::string heads(const std::string& name, const Arguments& more = {}) const {
        const std::string out = scratch.at(name);
        succeeds(joined({"heads", model, "--texts", texts, "-o", out}, more));
        return out;
    }
};

}  // namespace

TEST_CASE("corpus: parts in any order and grouping are the whole, byte for byte") {
    const Corpus corpus;
    for (const std::string kind : {".npz", ".jsonl"}) {
        CAPTURE(kind);
        const std::string whole = corpus.heads("whole" + kind);
        std::vector<std::string> parts;
        for (int n = 0; n < 3; ++n)
            parts.push_back(
                corpus.heads(fmt::format("{}{}", n, kind), {"--part", fmt::format("{}/3", n)}));
        const std::string a = corpus.scratch.at("a" + kind), b = corpus.scratch.at("b" + kind);
        succeeds({"merge", parts[2], parts[0], parts[1], "-o", a});
        CHECK(bytes_of_file(a) == bytes_of_file(whole));
        succeeds({"merge", parts[1], parts[2], "-o", b});
        succeeds({"merge", b, parts[0], "-o", a});
        CHECK(bytes_of_file(a) == bytes_of_file(whole));
        check_refused({"merge", b, parts[1], "-o", a}, "is in both");
    }
    CHECK_FALSE(std::filesystem::exists(corpus.scratch.at("whole.npz.partial")));
}

TEST_CASE("corpus: texts that are left out are counted and named") {
    const Corpus corpus;
    const std::string out = corpus.scratch.at("x.npz");
    const Ran ran = succeeds({"heads", corpus.model, "--texts", corpus.texts, "-o", out});
    CHECK(contains(ran.out, "6 heads over 197 texts, "));
    CHECK(contains(ran.out, "2 texts without a token, left out: 3, 130\n"));
    CHECK(contains(ran.out, "1 text too long, left out: 70\n"));
    const CorpusResult result = read_corpus(out).value();
    CHECK(result.texts == 197);
    CHECK(result.heads.front()[HeadMeasure::entropy].texts == 197);
}

TEST_CASE("corpus: a .jsonl has texts or the numbers of tokens; other lines are named") {
    Corpus corpus;
    corpus.texts = corpus.scratch.at("lines.jsonl");
    std::ofstream(corpus.texts) << R"({"text": "abba c"})" << '\n'
                                << R"({"tokens": [2, 1, 0, 3, 4], "id": 5})" << '\n'
                                << R"({"tokens": [2, 5000]})"
                                << "\n\n"
                                << R"({"words": "ab"})" << '\n'
                                << "no json\n[1]\n"
                                << R"({"tokens": []})" << '\n'
                                << R"({"tokens": [1.5]})" << '\n'
                                << R"({"text": "abba c"})";
    const Ran ran = succeeds({"heads", corpus.model, "--texts", corpus.texts, "-o", "-"});
    CHECK(contains(ran.err, "6 heads over 3 texts, "));
    CHECK(contains(ran.err, "2 texts without a token, left out: 3, 7\n"));
    const std::string out = corpus.heads("j.jsonl");
    const CorpusResult result = read_corpus(out).value();
    CHECK(result.left_out[2].count == 5);
    CHECK(result.tokens == 5 + 5 + 5);
    // the same tokens twice give equal numbers: the first text is named
    for (const CorpusHead& head : result.heads) {
        const MeasureStatistics& entropy = head[HeadMeasure::entropy];
        CHECK(entropy.texts == 3);
        CHECK(entropy.least->text->number == 0);
        CHECK(entropy.least->text->text == "abba c");
        CHECK(*entropy.deviation() < 1e-6);
    }
    CHECK(contains(bytes_of_file(out), R"("text":0,"file":)"));
}

TEST_CASE("corpus: a text that was given as numbers of tokens is read by them again") {
    Corpus corpus;
    corpus.texts = corpus.scratch.at("ids.jsonl");
    std::ofstream(corpus.texts) << R"({"tokens": [0, 1, 4]})" << '\n';  // "ab" is one token
    const std::string out = corpus.heads("ids.npz");
    const Model model = Model::open(corpus.model).value();
    const std::string again =
        read_corpus(out).value().heads[0][HeadMeasure::entropy].most->text->as_read();
    CHECK(again == "token-ids: 0 1 4");
    CHECK(model.tokens_of("abc").value().size() == 2);
    const auto tokens = model.tokens_of(again).value();
    REQUIRE(tokens.size() == 3);
    for (std::size_t n = 0; n < 3; ++n) CHECK(tokens[n].text == model.shown(tokens[n].id));
    CHECK_FALSE(model.tokens_of("token-ids: 4000"));
    const auto opened = files::opener(backends())({out}, {}).value();
    CHECK(opened.document->tokens.size() == 3);
    CHECK(view::text_of(*opened.document) == again);
}

TEST_CASE("corpus: weights that are NaN are named, and in no statistic") {
    const Scratch scratch;
    const std::filesystem::path folder = test::gpt2_folder(scratch);
    std::string weights = bytes_of_file((folder / "model.safetensors").string());
    std::uint64_t header = 0;
    for (std::size_t i = 8; i-- > 0;) header = header << 8 | static_cast<unsigned char>(weights[i]);
    const auto json = nlohmann::json::parse(weights.substr(8, header));
    for (const auto& [name, row] : json.items())
        if (name.ends_with("wte.weight")) {
            const auto width = row["shape"][1].get<std::size_t>();
            const std::size_t at = 8 + header + row["data_offsets"][0].get<std::size_t>();
            for (std::size_t c = 0; c < width; ++c)  // token 4, "c"
                weights.replace(at + 4 * (4 * width + c), 4, std::string("\0\0\x80\x7f", 4));
        }
    std::ofstream(folder / "model.safetensors", std::ios::binary) << weights;
    std::ofstream(scratch.at("t.txt")) << "abba\nac\nab b\ncc\n";
    const Ran ran = succeeds(
        {"heads", folder.string(), "--texts", scratch.at("t.txt"), "-o", scratch.at("o.npz")});
    CHECK(contains(ran.out, "over 2 texts, "));
    CHECK(contains(ran.out, "2 texts whose weights are not finite, left out: 1, 3\n"));
}

TEST_CASE("corpus: what was kept is gone on from, and that of another job is refused") {
    const Corpus corpus;
    const std::string whole = corpus.heads("whole.npz");
    const std::string out = corpus.scratch.at("out.npz"), retained = out + ".partial";
    // a part of it under the name of what is kept
    std::filesystem::rename(corpus.heads("p.jsonl", {"--part", "2/3"}), retained);
    const Ran ran = succeeds({"heads", corpus.model, "--texts", corpus.texts, "-o", out});
    CHECK(contains(ran.err, "63 texts are in " + retained));
    CHECK(bytes_of_file(out) == bytes_of_file(whole));
    CHECK_FALSE(std::filesystem::exists(retained));
    std::filesystem::rename(corpus.heads("q.jsonl", {"--batch", "4"}), retained);
    check_refused({"heads", corpus.model, "--texts", corpus.texts, "-o", out},
                  retained + " belongs to");
    std::filesystem::rename(corpus.heads("p.jsonl", {"--part", "0/2"}), retained);
    check_refused({"heads", corpus.model, "--texts", corpus.texts, "--part", "1/2", "-o", out},
                  "another --part");
    const std::string of_part = bytes_of_file(retained);
    for (const auto& [ranges, text] :
         {std::pair{"[0,9000000000000000000]", "the file is incomplete or was changed"},
          std::pair{"[64,64]", "the file is incomplete or was changed"},
          std::pair{"[-1,64]", "the file is incomplete or was changed"},
          std::pair{"[0,9007199254740992]", "another --part"}}) {
        std::string forged = of_part;
        const std::size_t at = forged.find("\"ranges\":[") + 10;
        forged.replace(at, forged.find("]]", at) + 1 - at, ranges);
        std::ofstream(retained) << forged;
        check_refused({"heads", corpus.model, "--texts", corpus.texts, "--part", "0/2", "-o", out},
                      text);
    }
    std::filesystem::remove(retained);
    std::filesystem::rename(corpus.heads("r.jsonl"), retained);
    std::ofstream(corpus.texts, std::ios::app) << "abc\n";
    check_refused({"heads", corpus.model, "--texts", corpus.texts, "-o", out}, "other texts");
}

TEST_CASE("corpus: the table, CSV, and what is refused") {
    const Corpus corpus;
    const Arguments begin{"heads", corpus.model, "--texts", corpus.texts};
    const Ran table = succeeds(joined(begin, {"--sort", "previous"}));
    CHECK(contains(table.out, "layer head"));
    CHECK(contains(table.out, "±"));
    const std::string csv = succeeds(joined(begin, {"-o", "-"})).out;
    CHECK(std::count(csv.begin(), csv.end(), '\n') >= 1 + 6 * 10);
    CHECK(csv.starts_with("layer,head,measure,texts,mean,std,min,min_text,min_words,"));
    CHECK(bytes_of_file(corpus.heads("c.csv")) == csv);
    struct Row {
        Arguments more;
        std::string contains;
    };
    const Row rows[] = {{{"--part", "3/3"}, "--part is '3/3'; expected I/N"},
                        {{"--part", "1"}, "--part is '1'"},
                        {{"--part", "-1/2"}, "--part"},
                        {{"--batch", "0"}, "--batch is 0; expected"},
                        {{"--save-every", "x"}, "--save-every is 'x'"},
                        {{"--sort", "change"}, "--sort is 'change'"},
                        {{"--text", "a"}, "--text is given with --texts"},
                        {{"--off", "0.1"}, "--off is given with --texts"},
                        {{"--causal"}, "--causal is given with --texts"},
                        {{"-o", corpus.scratch.at("x.txt")}, ".npz"},
                        {{"-o", corpus.texts}, ".npz"}};
    for (const Row& row : rows) check_refused(joined(begin, row.more), row.contains);
    check_refused({"heads", corpus.model, "--text", "a", "--part", "0/2"}, "--texts");
    check_refused({"heads", corpus.model, "--texts", corpus.scratch.at("no.txt")}, "no.txt");
    for (const std::string& other : {corpus.model, std::string("/dev/null")})
        check_refused({"heads", corpus.model, "--texts", other},
                      "--texts is '" + other + "'; expected a file with one text a line");
    check_refused({"heads", golden("qkv.npz"), "--texts", corpus.texts},
                  "qkv.npz is not a model, which --texts needs; expected a trained model's folder");
    check_refused({"merge"}, "no FILES");
    check_refused({"merge", golden("qkv.npz")}, "qkv.npz");
    check_refused({"merge", corpus.texts}, "lines.txt holds no measures");
}

TEST_CASE("corpus: a result opens in Heads with its model; without it the table alone") {
    const Corpus corpus;
    for (const std::string name : {"o.npz", "o.jsonl"}) {
        CAPTURE(name);
        const std::string path = corpus.heads(name);
        const auto open = files::opener(backends());
        const auto opened = open(view::OpenRequest{path}, {}).value();
        REQUIRE(opened.session);
        CHECK(opened.session->workspace == "heads");
        CHECK(opened.notes.empty());
        const view::ModelOrigin* const model = view::model_of(*opened.document);
        REQUIRE(model);
        CHECK(model->path == corpus.model);
        std::size_t shortest = model->text.size() + 1;
        bool shown = false;
        const CorpusResult retained = read_corpus(path).value();
        for (const CorpusHead& head : retained.heads)
            for (const MeasureStatistics& of : head.measures)
                for (const auto& extreme : {of.least, of.most})
                    if (extreme) {
                        shortest = std::min(shortest, extreme->text->text.size());
                        shown |= extreme->text->text == model->text;
                    }
        CHECK(shown);
        CHECK(model->text.size() == shortest);
        const std::string moved = corpus.model + "-moved";
        std::filesystem::rename(corpus.model, moved);
        const auto alone = files::opener(backends())(view::OpenRequest{path}, {}).value();
        CHECK(alone.session->workspace == "heads");
        CHECK(alone.document->no_attention == "the model " + corpus.model + " was not found");
        std::filesystem::rename(moved, corpus.model);
        std::ofstream(std::filesystem::path(corpus.model) / "merges.txt", std::ios::app) << "\n";
        CHECK(
            contains(text_of(files::opener(backends())(view::OpenRequest{path}, {}).value().notes),
                     "is not the model that was measured, or it has changed"));
    }
}

TEST_CASE("corpus: a session finds it where both were moved, and it opens with a damaged model") {
    const Corpus corpus;
    const std::string path = corpus.heads("o.npz");
    const view::AppState session =
        *files::opener(backends())(view::OpenRequest{path}, {}).value().session;
    const std::string text = view::session_to_json(session, corpus.scratch / "");
    std::filesystem::create_directories(corpus.scratch / "moved");
    std::filesystem::rename(path, corpus.scratch / "moved" / "o.npz");
    view::SessionContext context{.open = files::opener(backends())};
    context.folder = corpus.scratch / "moved";
    const auto moved = view::session_from_json(text, "s.json", context).value();
    CHECK(view::heads_look(moved).corpus == corpus.scratch.at("moved/o.npz"));
    std::filesystem::rename(corpus.scratch / "moved" / "o.npz", path);
    std::filesystem::resize_file(std::filesystem::path(corpus.model) / "model.safetensors", 1000);
    const auto damaged = files::opener(backends())(view::OpenRequest{path}, {}).value();
    CHECK(view::heads_look(*damaged.session).corpus == path);
    CHECK(text_of(damaged.notes).starts_with("no text can be read: "));
    CHECK(contains(text_of(damaged.notes), "model.safetensors"));
}

TEST_CASE("corpus: where no text could be measured it fails and says why; a part may have none") {
    const Corpus corpus;
    const std::string texts = corpus.scratch.at("none.txt"), out = corpus.scratch.at("none.npz");
    std::ofstream(texts) << "\n\n";
    const Arguments command{"heads", corpus.model, "--texts", texts, "-o", out};
    check_refused(command, "no text of " + texts +
                               " could be measured: 2 texts without a token, left out: 0, 1");
    CHECK_FALSE(std::filesystem::exists(out));
    std::ofstream(texts, std::ios::trunc).close();
    check_refused(command, texts + " holds no text; expected one a line");
    Arguments part = command;
    part.insert(part.end(), {"--part", "1/2"});
    succeeds(part);
}

TEST_CASE("heads of more weights than the window holds are measured layer by layer") {
    const Scratch scratch;
    const auto folder = scratch / "llama";
    test::copy_model("llama", folder);
    auto config = read_json_file(folder / "config.json").value();
    config["max_position_embeddings"] = 2048;
    std::ofstream(folder / "config.json") << config.dump();
    std::string ids = "1";  // 2 layers of 4 heads: 8 * 1500^2 = 18 million weights
    for (int n = 1; n < 1500; ++n) ids += fmt::format(",{}", n * 7 % 45);
    const Arguments command{"heads", folder.string(), "--token-ids", ids, "-o", "-"};
    const std::string csv = succeeds(command).out,
                      streamed = succeeds(joined(command, {"--stream"})).out;
    CHECK(std::ranges::count(csv, '\n') == 9);
    std::istringstream is(streamed), should(csv);
    for (std::string a, b; std::getline(should, b);) {
        REQUIRE(std::getline(is, a));
        std::istringstream left(a), right(b);
        for (std::string x, y; std::getline(right, y, ',');) {
            REQUIRE(std::getline(left, x, ','));
            if (!y.empty() && std::isdigit(static_cast<unsigned char>(y[0])) != 0)
                CHECK(std::stod(x) == doctest::Approx(std::stod(y)).epsilon(1e-4));
            else
                CHECK(x == y);
        }
    }
}

TEST_CASE("heads --stream: the measures of one text with the weights of one layer at a time") {
    const Scratch scratch;
    const std::string folder = test::gpt2_folder(scratch).string();
    const Arguments begin{"heads", folder, "--text", "abba c", "-o", "-"};
    std::istringstream is(succeeds(joined(begin, {"--stream"})).out);
    std::istringstream should(succeeds(begin).out);
    std::string a, b;
    Index lines = 0;
    while (std::getline(should, b)) {
        REQUIRE(std::getline(is, a));
        std::istringstream left(a), right(b);
        for (std::string x, y; std::getline(right, y, ',');) {
            REQUIRE(std::getline(left, x, ','));
            if (lines > 0 && !y.empty() && (std::isdigit(y[0]) != 0))
                CHECK(std::stod(x) == doctest::Approx(std::stod(y)).epsilon(1e-5));
            else
                CHECK(x == y);
        }
        ++lines;
    }
    CHECK(lines == 7);
    // trace: the same arrays but for the output, and it reopens the same
    const std::string one = scratch.at("one.npz"), all = scratch.at("all.npz");
    for (const auto& [file, more] : {std::pair{one, Arguments{"--stream"}}, {all, Arguments{}}})
        succeeds(joined({"trace", "--model", folder, "--text", "abba c", "-o", file}, more));
    const Npz streamed = read_npz(one).value(), whole = read_npz(all).value();
    CHECK_FALSE(streamed.arrays.contains("l0.output"));
    for (const auto& [name, array] : whole.arrays)
        if (!name.ends_with(".output") && !name.ends_with("W_O") && !name.ends_with("b_O"))
            CHECK_MESSAGE(streamed.arrays.at(name).values == array.values, name);
    CHECK(succeeds({"heads", one, "-o", "-"}).out.starts_with("layer,head"));
    // of a model without a tokenizer, and of one of two stacks
    const Arguments ids{"heads", test::golden_model("gpt2").string(), "--token-ids", "1,2,3"};
    CHECK(succeeds(joined(ids, {"--stream"})).out == succeeds(ids).out);
    for (const auto& [file, more] : {std::pair{one, Arguments{"--stream"}}, {all, Arguments{}}})
        succeeds(joined({"trace", "--model", test::golden_model("t5").string(), "--token-ids",
                         "1,2,3", "--decoder", "4 5", "--group", "cross", "-o", file},
                        more));
    CHECK(read_npz(one).value().arrays.at("l1.weights").values ==
          read_npz(all).value().arrays.at("l1.weights").values);
    check_refused(
        {"trace", "--model", folder, "--text", "a", "--stream", "--off", "0.0", "-o", one},
        "--off cannot be combined with --stream");
    check_refused({"heads", folder, "--stream"}, "--stream is given alone; expected");
    check_refused({"heads", folder, "--stream", "--text", "a", "--sort", "change"},
                  "--sort is 'change', which --stream does not measure");
    check_refused({"heads", folder, "--stream", "--text", "a", "--off", "0.0"},
                  "--off is given with --stream");
}
