#include "tests/support/persisted_names.h"

#include "app/common/workspace.h"
#include "app/window/journal.h"

namespace attn::test {

using namespace attn::view;

namespace {

/// Collects the path of every field, whether a value has it or not.
class Collect : public Visitor {
  public:
    Collect(std::set<std::string>& names, std::string path, char separator)
        : names_(names), path_(std::move(path)), separator_(separator) {}

  protected:
    void leaf(std::string_view name, Leaf, const About&) override { names_.insert(path_of(name)); }
    void choice(std::string_view name, std::size_t&, Names names, const About&) override {
        names_.insert(path_of(name));
        for (const std::string_view value : names)
            names_.insert(path_of(name) + "=" + std::string(value));
    }
    void object(std::string_view name, const About&, const Inside& inside) override {
        names_.insert(path_of(name));
        Collect within(names_, path_of(name), '/');
        inside(within);
    }
    bool maybe(std::string_view, bool) override { return true; }
    void list(std::string_view name, std::size_t& count, const About&, const Each& each) override {
        count = 1;
        Collect within(names_, path_of(name) + "/0", '/');
        names_.insert(path_of(name));
        each(within, 0);
    }

  private:
    std::string path_of(std::string_view name) const {
        return path_ + separator_ + std::string(name);
    }

    std::set<std::string>& names_;
    std::string path_;
    char separator_;
};

}  // namespace

std::set<std::string> persisted_names() {
    std::set<std::string> names;
    for (const ActionType* type : all_actions()) {
        if (type->name.empty()) continue;
        names.emplace(type->name);
        Collect members(names, std::string(type->name), '.');
        type->describe(members, type->make().get());
    }
    for (const WorkspaceInfo* workspace : workspaces()) {
        const std::string path = "/" + std::string(workspace->key);
        names.insert(path);
        Collect fields(names, path, '/');
        Slots looks, controls;
        for (const PersistedValue& retained : workspace->values)
            retained.type->describe(fields,
                                    (retained.undone ? controls : looks).edit(*retained.type));
    }
    return names;
}

}  // namespace attn::test
