// web/page.js without a browser: it runs in a context of stand-ins for the page's objects, and what it passes to the program is
// compared.
//
//     node script_test.cjs TREE
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const script = fs.readFileSync(path.join(process.argv[2], "web/page.js"), "utf8");

/// An element that accepts everything.
const element = () => ({style: {}, dataset: {}, hidden: false, textContent: "", listeners: {},
    addEventListener(name, heard) { this.listeners[name] = heard; },
    getContext: () => ({}), focus() {}, click() {}, setPointerCapture() {}});

/// The script, started in a page with this address; `storage` is its localStorage.
const page = (hash, storage = {getItem: () => null, setItem() {}, removeItem() {}}) => {
    const elements = {};
    const window = element();
    const strings = new Map();
    const sent = [];
    const Module = {};
    const context = {
        Module, window, console: {error() {}}, navigator: {}, innerWidth: 1280, innerHeight: 720, devicePixelRatio: 1,
        document: {
            getElementById: id => elements[id] ??= element(),
            createElement: element,
            querySelectorAll: () => [],
        },
        location: {href: "https://host/attnscope.html" + hash, hash, pathname: "/attnscope.html"},
        localStorage: storage,
        matchMedia: () => ({matches: false}), requestAnimationFrame: () => 1, setTimeout: () => 1, clearTimeout() {},
        performance: {mark() {}}, FS: {mkdirTree() {}, mkdir() {}, chdir() {}, writeFile() {}, readFile: () => ""}, ENV: {},
        stringToNewUTF8: text => (strings.set(strings.size + 1, text), strings.size), _free() {},
    };
    for (const name of ["turn", "changed", "pointer", "button", "key", "text", "wheel", "focus", "leave", "dropped", "file_chosen"])
        context["_attn_" + name] = (...values) => sent.push([name, ...values.map(value => strings.get(value) ?? value)]);
    vm.runInNewContext(script, context);
    return {Module, context, window, sent, elements, start() {
        Module.preRun.forEach(step => step());
        Module.postRun.forEach(step => step());
    }};
};

const list = values => Array.from(values);  // arrays of another context have another prototype
const tests = {
    "an address without a state starts without arguments"() {
        for (const hash of ["", "#"]) assert.deepEqual(list(page(hash).Module.arguments), []);
    },
    "the state in the address is decoded once"() {
        assert.deepEqual(list(page("#a%20b").Module.arguments), ["attnscope:a b"]);
        assert.deepEqual(list(page("#a%2520b").Module.arguments), ["attnscope:a%20b"]);
    },
    "a malformed escape in the address is passed on as it is, at the start"() {
        for (const text of ["%", "%2", "%zz", "%E0%A4%A", "%FF", "a%"])
            assert.deepEqual(list(page("#" + text).Module.arguments), ["attnscope:" + text]);
    },
    "a malformed escape in the address is passed on as it is, later"() {
        const opened = page("");
        opened.start();
        opened.context.location.hash = "#%";
        opened.window.listeners.hashchange();
        assert.deepEqual(opened.sent, [["dropped", "attnscope:%"]]);
    },
    "a copied state is a link to this page, and the pasted link is the state"() {
        const opened = page("#old");
        opened.start();
        let written = "";
        opened.context.navigator.clipboard = {writeText: text => (written = text, Promise.resolve())};
        opened.Module.attnCopy("attnscope:abc");
        assert.equal(written, "https://host/attnscope.html#abc");
        opened.Module.attnPasted = "";
        opened.window.listeners.paste({clipboardData: {getData: () => written}});
        assert.equal(opened.Module.attnPasted, "attnscope:abc");
    },
    "a browser that refuses to store anything does not stop the start"() {
        const refuse = () => { throw new Error("denied"); };
        const opened = page("", {getItem: refuse, setItem: refuse, removeItem: refuse});
        opened.start();
        assert.equal(opened.Module.attnKeep("work"), 0);
        assert.equal(opened.Module.attnKept(), "");
        opened.window.listeners.pagehide();
    },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    try {
        test();
    } catch (error) {
        ++failed;
        console.error(`${name}: ${error.stack}`);
    }
}
console.log(`${Object.keys(tests).length} tests, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
