// A course: what a model is at a step is given by specification, switches and step alone, whichever way it came there.

#include "core/train/course.h"
#include "core/train/task_table.h"

#include <doctest/doctest.h>

using namespace attn;
using namespace attn::train;

namespace {

Spec short_spec() {
    return spec_from_json(R"({"task": "copy", "tokens": 8, "symbols": 4, "layers": 2, "heads": 2,
                              "d_model": 8, "d_k": 4, "batch": 4, "warmup": 3,
                              "learning_rate": 0.01})",
                          "spec")
        .value();
}

void go(Course& course, Index step) {
    while (course.advance(step)) {
    }
    REQUIRE(course.step_count() == step);
}

/// The weights after `steps`, of a trainer that is switched by hand.
State by_hand(Index steps, Index off_at, Index head_off_at) {
    Trainer trainer = *Trainer::make(short_spec());
    for (Index n = 0; n < steps; ++n) {
        if (n == off_at) trainer.set_scaling(false);
        if (n == head_off_at) trainer.silence_head(1, 0, true);
        trainer.step();
    }
    return *trainer.checkpoint();
}

}  // namespace

TEST_CASE("course: with its switches it is what a trainer is that is switched by hand") {
    Course course = *Course::make(short_spec());
    course.set_switches({{4, -1, false}, {7, 2, false}});
    go(course, 12);
    CHECK(course.keep()->weights == by_hand(12, 4, 7).weights);
    CHECK(course.keep()->weights != by_hand(12, 5, 7).weights);
    CHECK(course.keep()->weights != by_hand(12, 4, 8).weights);
    CHECK(course.records().size() == 12);
    CHECK(course.records()[3]->switches.scaling);
    CHECK_FALSE(course.records()[4]->switches.scaling);
    CHECK(course.records()[7]->switches.silenced[2]);
}

TEST_CASE("course: back and on again is the same, bit for bit") {
    Course course = *Course::make(short_spec());
    go(course, 20);
    const auto straight = course.keep()->weights;
    const auto records = course.records();
    go(course, 5);
    CHECK(course.records().size() == 5);
    CHECK(course.keep()->weights != straight);
    go(course, 20);
    CHECK(course.keep()->weights == straight);
    for (std::size_t n = 0; n < records.size(); ++n) CHECK(*course.records()[n] == *records[n]);
}

TEST_CASE("course: another switch drops what was trained from its step on, and no more") {
    Course course = *Course::make(short_spec());
    go(course, 10);
    const auto retained = course.records();
    course.set_switches({{6, -1, false}});
    CHECK(course.step_count() <= 6);
    go(course, 10);
    for (std::size_t n = 0; n < 6; ++n) CHECK(*course.records()[n] == *retained[n]);
    CHECK(course.keep()->weights == by_hand(10, 6, -1).weights);
    course.set_switches({});
    go(course, 10);
    CHECK(course.keep()->weights == by_hand(10, -1, -1).weights);
}

TEST_CASE("course: moments are few however long it runs, with the first and the newest") {
    Course course = *Course::make(short_spec());
    for (Index n = 10; n <= 400; n += 10) {
        go(course, n);
        course.keep();
    }
    CHECK(course.moments().size() <= kMostMoments);
    CHECK(course.moments().size() >= kMostMoments / 4);
    CHECK(course.moments().front()->step == 0);
    CHECK(course.moments().back()->step == 400);
    for (std::size_t n = 1; n < course.moments().size(); ++n)
        CHECK(course.moments()[n - 1]->step < course.moments()[n]->step);
}

TEST_CASE("course: a run that was kept goes on as if nothing had been, with its switches") {
    Course whole = *Course::make(short_spec());
    whole.set_switches({{3, -1, false}});
    go(whole, 6);
    const Run run = whole.run();
    CHECK(recorded_switches(run) == whole.switches());
    Course opened = *Course::from(run);
    CHECK(opened.step_count() == 6);
    go(opened, 9);
    go(whole, 9);
    CHECK(opened.keep()->weights == whole.keep()->weights);
}

TEST_CASE("course: switches that do not fit are named; of one step the later counts") {
    const Spec spec = short_spec();
    CHECK(check(spec, std::vector<Switch>{{0, 3, false}}));
    CHECK_FALSE(check(spec, std::vector<Switch>{{0, 4, false}}));
    CHECK_FALSE(check(spec, std::vector<Switch>{{-1, -1, false}}));
    const std::vector<Switch> twice{{2, -1, false}, {2, -1, true}};
    CHECK(switches_at(spec, twice, 2).scaling);
    CHECK(switches_at(spec, twice, 1).scaling);
}

TEST_CASE("course: the ending is the mean of the last steps before the one asked for") {
    std::vector<std::shared_ptr<const Record>> records;
    for (int n = 0; n < 5; ++n) {
        auto record = std::make_shared<Record>();
        record->loss = n;
        record->accuracy = 0.1 * n;
        records.push_back(record);
    }
    const Ending ending = ending_of(records, 4, 2);
    CHECK(ending.first == 2);
    CHECK(ending.steps == 2);
    CHECK(ending.loss == doctest::Approx(2.5));
    CHECK(ending.accuracy == doctest::Approx(0.25));
    CHECK(ending_of(records, 0).steps == 0);
    CHECK(ending_of(records, 99).steps == 5);
}
