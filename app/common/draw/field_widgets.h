#pragma once

#include "app/common/describe.h"
#include "app/common/draw/field_controls.h"

namespace attn::ui {

/// A control for every described field, one after the other, with its words and tip: what a person does with it changes the
/// field. An action that sets all fields then carries it out.
class FieldWidgets : public IdleVisitor {
  public:
    FieldWidgets(const Frame& frame, Actions& out, PlaceControl place)
        : frame_(frame), out_(out), place_(std::move(place)) {}

  protected:
    void leaf(std::string_view name, Leaf value, const About& about) override;
    void choice(std::string_view name, std::size_t& n, Names names, const About& about) override;

  private:
    template <class T>
    void set(T& value, Names names, const About& about);
    const Frame& frame_;
    Actions& out_;
    PlaceControl place_;
};

}  // namespace attn::ui
