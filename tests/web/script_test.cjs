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

/// An element that accepts everything. A dialog answers itself where a test says how: `answers` has names of buttons.
const element = () => ({style: {}, dataset: {}, hidden: false, textContent: "", listeners: {}, children: [], open: false, answers: [],
    addEventListener(name, heard) { this.listeners[name] = heard; },
    replaceChildren(...children) { this.children = children; },
    get firstChild() { return this.children[0]; },
    showModal() {
        this.open = true;
        const answer = this.answers.shift();
        if (answer) queueMicrotask(() => this.children.find(child => child.textContent === answer).onclick());
    },
    close(value = this.returnValue) {
        if (!this.open) return;
        this.open = false;
        this.returnValue = value;
        queueMicrotask(() => this.onclose());
    },
    getContext: () => ({}), focus() {}, click() {}, setPointerCapture() {}});

/// The script, started in a page with this address; `storage` is its localStorage. `more` has search (the address after "?"), answers
/// (of the dialog), fetch, one_file (the page is that form), and files: what the program wrote.
const page = (hash, storage = {getItem: () => null, setItem() {}, removeItem() {}}, more = {}) => {
    const elements = {ask: element()};
    elements.ask.answers = more.answers ?? [];
    const written = {};
    const window = element();
    const strings = new Map();
    const sent = [];
    const Module = {};
    const context = {
        Module, window, console: {error() {}}, navigator: {}, innerWidth: 1280, innerHeight: 720, devicePixelRatio: 1,
        document: {
            getElementById: id => id === "wasm" ? more.one_file ? element() : null : elements[id] ??= element(),
            createElement: element,
            querySelectorAll: () => [],
        },
        location: {href: "https://host/attnscope.html" + (more.search ?? "") + hash, hash, search: more.search ?? "", pathname: "/attnscope.html"},
        URL, URLSearchParams, AbortController, TextDecoder, File, Blob, fetch: more.fetch,
        localStorage: storage,
        matchMedia: () => ({matches: false}), requestAnimationFrame: () => 1, setTimeout: () => 1, clearTimeout() {},
        performance: {mark() {}}, ENV: {},
        FS: {mkdirTree() {}, mkdir() {}, chdir() {}, writeFile(name, bytes) { written[name] = bytes; }, readFile: () => ""},
        stringToNewUTF8: text => (strings.set(strings.size + 1, text), strings.size), _free() {},
    };
    for (const name of ["turn", "changed", "pointer", "button", "key", "text", "wheel", "focus", "leave", "dropped", "file_chosen"])
        context["_attn_" + name] = (...values) => sent.push([name, ...values.map(value => strings.get(value) ?? value)]);
    vm.runInNewContext(script, context);
    return {Module, context, window, sent, elements, written, start() {
        Module.preRun.forEach(step => step());
        Module.postRun.forEach(step => step());
    }};
};

/// A stand-in for fetch: {address: text}, and what was requested.
const site = (files, requested) => async (address, options) => {
    requested.push([address, options.credentials, options.referrerPolicy]);
    if (files[address] === undefined) return {ok: false, status: 404, statusText: "Not Found"};
    if (files[address] instanceof Error) throw files[address];
    return new Response(files[address]);
};
const settled = () => new Promise(done => setTimeout(done, 20));

const list = values => Array.from(values);  // arrays of another context have another prototype
const tests = {
    "a demo is a preset or a model by its name"() {
        assert.deepEqual(list(page("", undefined, {search: "?demo=stories"}).Module.arguments), ["--preset", "stories"]);
        assert.deepEqual(list(page("#a", undefined, {search: "?demo=stories"}).Module.arguments), ["attnscope:a", "--preset", "stories"]);
    },
    async "an address is loaded after the visitor agreed, without cookies and referrer"() {
        const requested = [];
        const opened = page("", undefined, {search: "?url=https://other/a/mine.npz", answers: ["Load"], fetch: site({"https://other/a/mine.npz": "bytes"}, requested)});
        opened.start();
        await settled();
        assert.deepEqual(requested, [["https://other/a/mine.npz", "omit", "no-referrer"]]);
        assert.deepEqual(opened.sent, [["dropped", "/files/mine.npz"]]);
        assert.equal(Buffer.from(opened.written["/files/mine.npz"]).toString(), "bytes");
        assert.equal(opened.elements.ask.open, false);
    },
    async "nothing is requested when the visitor does not agree"() {
        for (const answer of ["Cancel", ""]) {
            const requested = [];
            const opened = page("", undefined, {search: "?url=https://other/mine.npz", answers: [answer], fetch: site({}, requested)});
            opened.start();
            await settled();
            assert.deepEqual(requested, []);
            assert.deepEqual(opened.sent, []);
        }
    },
    async "a model is the files of its folder"() {
        const requested = [];
        const files = {"https://other/m/config.json": "{}", "https://other/m/tokenizer.json": "{}",
            "https://other/m/model.safetensors.index.json": JSON.stringify({weight_map: {a: "model-1.safetensors", b: "model-2.safetensors", c: "model-1.safetensors"}}),
            "https://other/m/model-1.safetensors": "1", "https://other/m/model-2.safetensors": "2"};
        const opened = page("", undefined, {search: "?url=https://other/m/", answers: ["Load"], fetch: site(files, requested)});
        opened.start();
        await settled();
        assert.deepEqual(opened.sent, [["dropped", "/files/model"]]);
        assert.deepEqual(Object.keys(opened.written).filter(name => name.startsWith("/files/model/")).sort(),
            ["config.json", "model-1.safetensors", "model-2.safetensors", "model.safetensors.index.json", "tokenizer.json"].map(name => "/files/model/" + name));
    },
    async "an address that cannot be loaded gives its reason"() {
        for (const [search, more, message] of [
            ["?url=https://other/none.npz", {}, "404 Not Found"],
            ["?url=https://other/closed.npz", {}, "(CORS)"],
            ["?url=ftp://other/a.npz", {}, "expected https: or http:"],
            ["?url=https://other/a.npz", {one_file: true}, "opens no connection"]]) {
            const opened = page("", undefined, {search, answers: ["Load"], fetch: site({"https://other/closed.npz": new TypeError("fetch failed")}, []), ...more});
            opened.start();
            await settled();
            assert.match(opened.elements.failure.textContent, new RegExp(message.replace(/[()?.]/g, "\\$&")));
            assert.deepEqual(opened.sent, []);
        }
    },
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
        opened.window.listeners.hashchange({});
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
        opened.window.listeners.pagehide({});
    },
};

const run = async () => {
    let failed = 0;
    for (const [name, test] of Object.entries(tests)) {
        try {
            await test();
        } catch (error) {
            ++failed;
            console.error(`${name}: ${error.stack}`);
        }
    }
    console.log(`${Object.keys(tests).length} tests, ${failed} failed`);
    process.exitCode = failed ? 1 : 0;
};
run();
