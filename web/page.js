// What stands between the browser and the program: events in, files, clipboard and turns out. All that a person does goes to
// exported functions named _attn_…; what the program asks of the page are the functions attn… here.
(() => {
    const canvas = Module.canvas = document.getElementById("canvas");
    const kLeast = {width: 512, height: 320};  // in CSS pixels: a smaller page is drawn as large and shown smaller
    const errors = [];
    let started = false, drawn = false, frame = 0, timer = 0;

    const say = words => {
        const element = document.getElementById("failure");
        element.textContent = words;
        element.hidden = !words;
    };
    const text = value => stringToNewUTF8(value);
    const send = (call, ...words) => {
        const places = words.map(word => typeof word === "string" ? text(word) : word);
        call(...places);
        words.forEach((word, n) => typeof word === "string" && _free(places[n]));
        Module.attnWake();
    };

    // ---- turns

    const turn = () => {
        frame = 0;
        clearTimeout(timer);
        const rest = _attn_turn();
        if (!drawn) performance.mark("first-frame");
        drawn = true;
        if (rest < 0) {
            started = false;
            say(errors.slice(-3).join("\n") || "attnscope has ended. Load the page again to go on.");
        } else if (rest === 0) {
            Module.attnWake();
        } else {
            timer = setTimeout(Module.attnWake, rest * 1000);
        }
    };
    Module.attnWake = () => { frame = frame || requestAnimationFrame(turn); };

    // ---- size

    const shrink = () => Math.max(1, kLeast.width / innerWidth, kLeast.height / innerHeight);
    Module.attnScale = () => devicePixelRatio;
    const fit = () => {
        const scale = devicePixelRatio * shrink();
        canvas.width = Math.round(innerWidth * scale);
        canvas.height = Math.round(innerHeight * scale);
        if (started) send(_attn_changed);
    };
    fit();

    // ---- pointer

    const kCursors = ["default", "text", "move", "ns-resize", "ew-resize", "nesw-resize", "nwse-resize", "pointer", "wait",
        "progress", "not-allowed"];
    Module.attnCursor = shape => { canvas.style.cursor = shape < 0 ? "none" : kCursors[shape] || "default"; };
    const point = event => {
        const factor = canvas.width / innerWidth;
        send(_attn_pointer, event.clientX * factor, event.clientY * factor);
    };
    const kButtons = [0, 2, 1, 3, 4];  // the middle one is the third of ours

    // One finger is the mouse; a long press hovers; two fingers roll, and pinch as Ctrl with the wheel.
    const fingers = new Map();
    let press = 0, hovers = false, spread = 0;
    const span = () => {
        const [a, b] = [...fingers.values()];
        return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    };
    const touch_down = event => {
        fingers.set(event.pointerId, event);
        clearTimeout(press);
        if (fingers.size === 1) {
            point(event);
            hovers = false;
            press = setTimeout(() => { hovers = true; press = 0; }, 450);
        } else if (fingers.size === 2) {
            press = 0;
            hovers = true;
            spread = span();
        }
    };
    const touch_move = event => {
        const before = fingers.get(event.pointerId);
        if (!before) return;
        const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
        if (fingers.size === 1) {
            if (press && Math.hypot(dx, dy) < 8) return;
            if (press) {
                clearTimeout(press);
                press = 0;
                send(_attn_button, 0, 1);
            }
        }
        fingers.set(event.pointerId, event);
        point(event);
        if (fingers.size !== 2) return;
        const now = span();
        if (Math.abs(now - spread) > 12) {
            send(_attn_key, "ControlLeft", "", 1, 1);
            send(_attn_wheel, 0, Math.log2(now / spread) * 4);
            send(_attn_key, "ControlLeft", "", 0, 0);
            spread = now;
        } else {
            send(_attn_wheel, dx / 50, dy / 50);
        }
    };
    const touch_up = event => {
        if (!fingers.delete(event.pointerId)) return;
        if (press) {
            clearTimeout(press);
            press = 0;
            send(_attn_button, 0, 1);
        }
        if (!hovers) send(_attn_button, 0, 0);
    };

    const listen = (target, name, heard) => target.addEventListener(name, event => {
        if (started) heard(event);
    }, {passive: false});
    const is_touch = event => event.pointerType === "touch";
    listen(canvas, "pointermove", event => is_touch(event) ? touch_move(event) : point(event));
    listen(canvas, "pointerdown", event => {
        event.preventDefault();
        canvas.focus();
        canvas.setPointerCapture(event.pointerId);
        if (is_touch(event)) return touch_down(event);
        point(event);
        send(_attn_button, kButtons[event.button] ?? 0, 1);
    });
    listen(canvas, "pointerup", event => {
        if (is_touch(event)) return touch_up(event);
        point(event);
        send(_attn_button, kButtons[event.button] ?? 0, 0);
    });
    listen(canvas, "pointercancel", event => is_touch(event) && touch_up(event));
    listen(canvas, "pointerleave", event => event.buttons === 0 && !is_touch(event) && send(_attn_leave));
    listen(canvas, "contextmenu", event => event.preventDefault());
    listen(canvas, "wheel", event => {
        event.preventDefault();
        const step = event.deltaMode === 1 ? 3 : event.deltaMode === 2 ? 1 : 100;
        send(_attn_wheel, -event.deltaX / step, -event.deltaY / step);
    });

    // ---- keyboard

    const modifiers = event => (event.ctrlKey || event.metaKey ? 1 : 0) + (event.shiftKey ? 2 : 0) + (event.altKey ? 4 : 0);
    // What a person expects of the browser stays the browser's: reload, its tools, and pasting, which comes as an event.
    const is_browsers = event => event.code === "F5" || event.code === "F11" || event.code === "F12" ||
        (modifiers(event) & 1 && ["r", "t", "w", "n", "l", "v"].includes(event.key.toLowerCase()));
    listen(window, "keydown", event => {
        if (event.isComposing) return;
        const browsers = is_browsers(event);
        if (!browsers) event.preventDefault();
        if (!event.repeat) send(_attn_key, event.code, event.key, 1, modifiers(event));
        const types = [...event.key].length === 1 && (!event.ctrlKey || event.altKey) && !event.metaKey;
        if (types && !browsers) send(_attn_text, event.key);
    });
    listen(window, "keyup", event => send(_attn_key, event.code, event.key, 0, modifiers(event)));
    listen(window, "blur", () => send(_attn_focus, 0));
    listen(window, "focus", () => send(_attn_focus, 1));
    listen(window, "resize", fit);

    // ---- clipboard; a state that is copied is a link to this page

    const kState = "attnscope:";
    Module.attnPasted = "";
    Module.attnCopy = copied => {
        const words = copied.startsWith(kState) ? location.href.split("#")[0] + "#" + copied.slice(kState.length) : copied;
        Module.attnPasted = copied;
        if (navigator.clipboard) navigator.clipboard.writeText(words).catch(() => {});
    };
    /// The percent escapes of an address, decoded; a malformed one ("#%") is returned as it is, and the program reports it.
    const decoded = escaped => {
        try {
            return decodeURIComponent(escaped);
        } catch {
            return escaped;
        }
    };
    const state_of = hash => hash.length > 1 ? kState + decoded(hash.slice(1)) : "";
    listen(window, "paste", event => {
        const pasted = event.clipboardData.getData("text");
        const link = pasted.match(/^\S+\.html?#(\S+)$|^https?:\S+#(\S+)$/);
        Module.attnPasted = link ? kState + (link[1] || link[2]) : pasted;
        Module.attnWake();
    });
    listen(window, "hashchange", () => location.hash.length > 1 && send(_attn_dropped, state_of(location.hash)));

    // ---- files: what is opened is copied into the page's memory

    const kFolder = "/files";
    const kMostBytes = 1 << 30;
    /// [path, File] of what a dropped entry holds.
    const files_in = async entry => {
        if (entry.isFile) return [[entry.fullPath, await new Promise((found, lost) => entry.file(found, lost))]];
        const reader = entry.createReader(), all = [];
        for (;;) {
            const some = await new Promise((found, lost) => reader.readEntries(found, lost));
            if (some.length === 0) return all;
            for (const each of some) all.push(...await files_in(each));
        }
    };
    /// What was chosen or dropped together: the files of a model are a folder, others are opened one by one.
    const add = async (found, opened) => {
        if (found.reduce((bytes, [, file]) => bytes + file.size, 0) > kMostBytes) {
            say("A page takes files of at most 1 GB: larger ones are for the installed program.");
            setTimeout(say, 8000, "");
            return;
        }
        const is_model = found.some(([path]) => path.endsWith("/config.json"));
        const folder = is_model && found.every(([path]) => path.lastIndexOf("/") === 0) ? "/model" : "";
        for (const [path, file] of found) {
            FS.mkdirTree((kFolder + folder + path).replace(/\/[^/]*$/, ""));
            FS.writeFile(kFolder + folder + path, new Uint8Array(await file.arrayBuffer()));
        }
        if (is_model) send(opened, kFolder + (folder || found[0][0].replace(/^(\/[^/]*).*/, "$1")));
        else for (const [path] of found) send(opened, kFolder + path);
    };
    const alone = files => Array.from(files, file => ["/" + file.name, file]);
    Module.attnAskFile = () => {
        const input = document.createElement("input");
        input.type = "file";
        input.multiple = true;
        input.onchange = () => add(alone(input.files), _attn_file_chosen);
        input.oncancel = () => send(_attn_file_chosen, "");
        input.click();
    };
    listen(window, "dragover", event => event.preventDefault());
    listen(window, "drop", async event => {
        event.preventDefault();
        const entries = Array.from(event.dataTransfer.items, item => item.webkitGetAsEntry?.());
        if (entries.every(entry => entry)) add((await Promise.all(entries.map(files_in))).flat(), _attn_dropped);
        else add(alone(event.dataTransfer.files), _attn_dropped);
    });
    Module.attnDownload = path => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([FS.readFile(path)]));
        link.download = path.split("/").pop();
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };

    // ---- what the browser keeps: work that is not saved, and settings

    const kKept = "attnscope:unsaved:" + location.pathname + location.hash;  // of what the page began with
    const kSettings = "/home/.config/attnscope/settings.json";
    const keep = (name, words) => {
        try {
            if (words) localStorage.setItem(name, words);
            else localStorage.removeItem(name);
            return 1;
        } catch {
            return 0;
        }
    };
    const kept = name => {
        try {
            return localStorage.getItem(name) || "";
        } catch {
            return "";
        }
    };
    Module.attnKeep = words => keep(kKept, words);
    Module.attnKept = () => kept(kKept);
    listen(window, "pagehide", () => keep("attnscope:settings", FS.readFile(kSettings, {encoding: "utf8"})));
    const prefers = what => matchMedia(`(prefers-${what})`).matches;
    const first_settings = () => JSON.stringify({
        theme: prefers("color-scheme: light") ? "light" : "dark", reduced_motion: prefers("reduced-motion: reduce")});

    // ---- letters of other scripts

    const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    Module.attnMeasure = (css, words) => {
        pen.font = css;
        const size = pen.measureText(words);
        return [size.width, Math.floor(-size.actualBoundingBoxLeft) - 1, Math.floor(-size.actualBoundingBoxAscent) - 1,
            Math.ceil(size.actualBoundingBoxRight) + 1, Math.ceil(size.actualBoundingBoxDescent) + 1];
    };
    Module.attnPaint = (css, words, color, left, top, width, height) => {
        pen.canvas.width = width;
        pen.canvas.height = height;
        pen.font = css;
        pen.fillStyle = color;
        pen.fillText(words, -left, -top);
        return pen.getImageData(0, 0, width, height).data;
    };

    // ---- what a frame says, for who cannot see it

    let spoken = 0;
    Module.attnSpoken = words => {
        clearTimeout(spoken);
        spoken = setTimeout(() => { document.getElementById("words").textContent = words; }, 200);
    };

    // ---- start: the state in the page's address, then the document that the page holds (web/app/main.cpp opens one)

    const bytes_of = base64 => Uint8Array.from(atob(base64.trim()), c => c.charCodeAt(0));
    const held = [...document.querySelectorAll("script[type='text/x-attnscope']")];
    const state = state_of(location.hash);
    Module.arguments = [...state ? [state] : [],
        ...held.flatMap(file => file.dataset.words ? JSON.parse(file.dataset.words) : [])];
    Module.preRun = [() => {
        ENV.HOME = "/home";
        FS.mkdirTree(kSettings.replace(/\/[^/]*$/, ""));
        FS.writeFile(kSettings, kept("attnscope:settings") || first_settings());
        FS.mkdir(kFolder);
        FS.chdir(kFolder);
        for (const file of held) {
            const path = kFolder + "/" + file.dataset.name;
            FS.mkdirTree(path.replace(/\/[^/]*$/, ""));
            FS.writeFile(path, bytes_of(file.textContent));
        }
    }];
    Module.postRun = [() => {
        started = true;
        document.getElementById("loading").hidden = true;
        canvas.focus();
        Module.attnWake();
    }];
    Module.printErr = words => {
        errors.push(words);
        console.error(words);
    };
    Module.onExit = code => { if (code) say(errors.slice(-3).join("\n")); };
    Module.onAbort = why => {
        started = false;
        say("attnscope stopped: " + why + "\n" + errors.slice(-3).join("\n"));
    };
})();
