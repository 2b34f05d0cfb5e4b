// What stands between the browser and the program: events in, files, clipboard and turns out. All that a person does goes to
// exported functions named _attn_…; what the program asks of the page are the functions attn… here.
;(() => {  // the line before, of Emscripten, ends without a semicolon
    // ---- letters of other scripts, which threads measure too

    const is_thread = typeof document === "undefined";
    const pen = (is_thread ? new OffscreenCanvas(1, 1) : document.createElement("canvas")).getContext("2d", {willReadFrequently: true});
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
    if (is_thread) return;

    const canvas = Module.canvas = document.getElementById("canvas");
    const kLeast = {width: 512, height: 320};  // in CSS pixels: a smaller page is drawn as large and shown smaller
    const errors = [];
    let started = false, drawn = false, frame = 0, timer = 0;

    const show_message = message => {
        const element = document.getElementById("failure");
        element.textContent = message;
        element.hidden = !message;
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
            show_message(errors.slice(-3).join("\n") || "attnscope has ended. Load the page again to go on.");
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
        if (started && !event.target?.closest?.("dialog")) heard(event);
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
            show_message("A page takes files of at most 1 GB: larger ones are for the installed program.");
            setTimeout(show_message, 8000, "");
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
    // ---- ?url=ADDRESS: tensors, a session, or a model's folder (an address that ends with "/") of another site. Only the form for
    // ---- a host may connect (page.html), and only after the visitor agreed.

    const kModelFiles = ["tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "merges.txt", "model.safetensors",
        "model.safetensors.index.json"];
    const dialog = document.getElementById("ask");
    /// Shows the question with buttons of these names, until one is pressed: its name; Esc is the last one.
    const ask = (question, ...names) => new Promise(answer => {
        const line = document.createElement("p");
        line.textContent = question;
        dialog.replaceChildren(line, ...names.map(name => {
            const button = document.createElement("button");
            button.textContent = name;
            button.onclick = () => dialog.close(name);
            return button;
        }));
        dialog.returnValue = names.at(-1);
        dialog.onclose = () => {
            canvas.focus();
            answer(dialog.returnValue);
        };
        dialog.showModal();
    });
    const megabytes = bytes => (bytes / 1e6).toFixed(1) + " MB";
    /// The file at the address, of at most `most` bytes; null: it is missing and `optional`.
    const fetched = async (address, most, signal, optional) => {
        const reply = await fetch(address, {signal, credentials: "omit", referrerPolicy: "no-referrer"});
        if (!reply.ok && optional) return null;
        if (!reply.ok) throw new Error(`${address} answers ${reply.status} ${reply.statusText}`.trim());
        const parts = [], all = Number(reply.headers.get("Content-Length"));
        let bytes = 0;
        for (const reader = reply.body.getReader();;) {
            const {done, value} = await reader.read();
            if (done) return new File(parts, decoded(new URL(address).pathname.split("/").pop()) || "file");
            bytes += value.length;
            if (bytes > most) throw new Error(`${address} is larger than the 1 GB that a page takes`);
            parts.push(value);
            if (dialog.open) dialog.firstChild.textContent =
                `Loading ${address}: ${megabytes(bytes)}${all > bytes ? " of " + megabytes(all) : ""}`;
        }
    };
    const fetch_address = async (address, signal) => {
        if (!address.pathname.endsWith("/")) return alone([await fetched(address.href, kMostBytes, signal)]);
        const found = [];
        let left = kMostBytes;
        const take = async (name, optional) => {
            const file = await fetched(new URL(name, address).href, left, signal, optional);
            if (!file) return null;
            left -= file.size;
            found.push(["/" + name, file]);
            return file;
        };
        await take("config.json");
        for (const name of kModelFiles) {
            const file = await take(name, true);
            if (file && name.endsWith("index.json"))
                for (const part of new Set(Object.values(JSON.parse(await file.text()).weight_map))) await take(part);
        }
        return found;
    };
    const open_address = async text => {
        let address;
        try {
            address = new URL(text, location.href);
        } catch {
            return show_message(`?url=${text} is not an address; expected https://… of an .npz, .safetensors, session or model folder`);
        }
        if (!/^https?:$/.test(address.protocol))
            return show_message(`?url=${text}: the scheme is ${address.protocol}; expected https: or http:`);
        if (document.getElementById("wasm"))
            return show_message(`?url=${text}: this page in one file opens no connection. Use the page of a host, or drop the file on the window.`);
        const answer = await ask(`Load ${address.href} from ${address.host}? Nothing of this page is sent there.`, "Load", "Cancel");
        if (answer !== "Load") return;
        const stop = new AbortController();
        const waits = ask(`Loading ${address.href}`, "Cancel").then(() => stop.abort());
        try {
            const found = await fetch_address(address, stop.signal);
            dialog.close();
            await add(found, _attn_dropped);
        } catch (why) {
            const cancelled = stop.signal.aborted;
            dialog.close();
            if (!cancelled) show_message(why.name === "TypeError" ?
                `${address.href} cannot be loaded: the connection fails, or its host does not allow other sites (CORS)` : why.message);
        }
        await waits;
    };

    // ---- downloads; a figure whose name ends with .png or .pdf holds SVG until here (web/app/figures/cairo_figure.cpp)

    const kDotsPerPixel = 300 / 96;  // 300 dots an inch
    const download = (blob, name) => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(blob);
        link.download = name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
    const download_png = (svg, name) => {
        const picture = new Image();
        const failed = () => show_message(`${name}: the browser cannot draw the figure; save it as .svg`);
        picture.onload = () => {
            const dots = document.createElement("canvas");
            dots.width = Math.ceil(picture.naturalWidth * kDotsPerPixel);
            dots.height = Math.ceil(picture.naturalHeight * kDotsPerPixel);
            dots.getContext("2d").drawImage(picture, 0, 0, dots.width, dots.height);
            URL.revokeObjectURL(picture.src);
            dots.toBlob(png => png ? download(png, name) : failed(), "image/png");
        };
        picture.onerror = failed;
        picture.src = URL.createObjectURL(svg);
    };
    /// The browser's own dialog prints the figure, or saves it as PDF, on paper of the figure's size.
    const print = text => {
        const figure = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
        const style = document.createElement("style");
        style.textContent = `@page { size: ${figure.getAttribute("width")}px ${figure.getAttribute("height")}px; margin: 0 }
            @media print { html, body { overflow: visible; background: none } body > :not(#print) { display: none } }
            @media screen { #print { display: none } }`;
        const place = document.createElement("div");
        place.id = "print";
        place.append(style, figure);
        document.body.append(place);
        addEventListener("afterprint", () => place.remove(), {once: true});
        window.print();
    };
    Module.attnDownload = path => {
        const bytes = FS.readFile(path), name = path.split("/").pop();
        const kind = name.split(".").pop().toLowerCase();
        const text = kind === "png" || kind === "pdf" ? new TextDecoder().decode(bytes) : "";
        if (!text.startsWith("<svg")) download(new Blob([bytes]), name);
        else if (kind === "png") download_png(new Blob([bytes], {type: "image/svg+xml"}), name);
        else print(text);
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
    const query = new URLSearchParams(location.search);
    const demo = held.length === 0 && query.get("demo");  // a built-in model or preset
    Module.arguments = [...state ? [state] : [], ...demo ? ["--preset", demo] : [],
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
        if (query.get("url")) open_address(query.get("url"));
    }];
    Module.printErr = words => {
        errors.push(words);
        console.error(words);
    };
    Module.onExit = code => { if (code) show_message(errors.slice(-3).join("\n")); };
    Module.onAbort = why => {
        started = false;
        show_message("attnscope stopped: " + why + "\n" + errors.slice(-3).join("\n"));
    };
})();
