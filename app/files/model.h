#pragma once

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/common/document/opened.h"
#include "app/files/writer.h"
#include "core/models/groups.h"
#include "core/models/model.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {
struct ModelRead;
struct ReadModel;
}  // namespace attn::view

namespace attn::files {

/// What a model reads until somebody says otherwise.
inline constexpr std::string_view kModelText =
    "The animal didn't cross the street because it was too tired";

/// The folder of the built-in model of that name; of anything else the path itself, so ./pronouns is a folder of one's own.
std::string model_path(const std::string& given);
/// The `default_text` of a model's config.json; "" without one.
std::string default_text(const std::string& path);
/// The text of a model if none is given: kModelText, or "" of a model of sounds, which reads silence.
std::string text_if_none(const std::string& path);
/// Names the words outside a vocabulary of whole words, with the nearest known ones; "" without any.
std::string vocabulary_note(const Model& model, std::span<const ModelToken> tokens);

/// The last few values by key, the one that was asked for last first. Any thread.
template <class Key, class Value>
class Recent {
  public:
    explicit Recent(std::size_t most) : most_(most) {}
    std::optional<Value> find(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find(values_, key, &std::pair<Key, Value>::first);
        if (found == values_.end()) return std::nullopt;
        std::rotate(values_.begin(), found, found + 1);
        return values_.front().second;
    }
    void keep(const Key& key, const Value& value) {
        if (find(key)) return;
        const std::scoped_lock lock(mutex_);
        values_.emplace_front(key, value);
        if (values_.size() > most_) values_.pop_back();
    }

  private:
    std::size_t most_;
    std::mutex mutex_;
    std::deque<std::pair<Key, Value>> values_;
};

/// The model that was opened last, so that typing reads no weights. It is read again where the files of its folder changed
/// since. Any thread.
class ModelCache {
  public:
    /// What is read, and the files of images as they are now: sizes and times.
    using RunKey = std::pair<Reading, std::string>;
    /// A model, its untouched runs of the last texts and the vectors that it gave them.
    struct Entry {
        Entry(Model opened, std::string folder)
            : model(std::move(opened)), path(std::move(folder)) {}
        const Model model;
        const std::string path;
        /// Of a text read under these interventions.
        Recent<std::pair<std::string, view::ModelChanges>, Tensor> vectors{8};
        /// Without interventions, with weights, q, k and v: what interventions are compared with and patched from, so that
        /// another one is one run more. Each is of all layers: the text's, and what is patched from.
        Recent<RunKey, std::shared_ptr<const ModelRun>> runs{3};
        /// With what model_stages() needs, under interventions and without: the text's, and one with a head off.
        Recent<std::pair<RunKey, view::ModelChanges>, std::shared_ptr<const ModelRun>> stages{2};
        Writer writer;
    };

    Result<std::shared_ptr<Entry>> open(const std::string& path);

  private:
    using File = std::tuple<std::string, std::uintmax_t, std::filesystem::file_time_type>;
    static std::vector<File> files_of(const std::string& path);

    std::mutex mutex_;
    std::vector<File> files_;
    std::shared_ptr<Entry> last_;
};

/// Every layer's attention over the text, or over the image in that file, with the layer's own X and W, and what the model says in the end. An error names
/// the folder where it holds no model. Under interventions the document has what they changed of the untouched run.
Result<view::Opened> open_text(ModelCache& cache, const view::ModelOrigin& wanted,
                               const RunControl& control);
/// The same of kModelText; of a model of images, of one whose pixels are all the mean, which the notes say.
Result<view::Opened> open_model(ModelCache& cache, const std::string& path,
                                const RunControl& control);

/// The stages of one layer of a model over what it reads, and what adds to its answer.
Result<std::shared_ptr<const view::ModelRead>> read_model(ModelCache& cache,
                                                          const view::ReadModel& wanted,
                                                          const RunControl& control);

/// Its run of a text, or of an image's file, without interventions: computed once while it is among the texts read last.
std::shared_ptr<const ModelRun> untouched(ModelCache::Entry& entry, const Reading& reading,
                                          const RunControl& control);

}  // namespace attn::files
