#!/usr/bin/env python3
"""Makes the page of the program that Emscripten wrote.

    pack.py attnscope.js attnscope.wasm page.html index.html            beside the two, for a host
    pack.py attnscope.js attnscope.wasm page.html PAGE.html --one       in one file, the WebAssembly packed

Beside the two, the page takes NAME-threads.js where the host isolates it (crossOriginIsolated), and otherwise asks the service worker
isolate.js to do so from the next load on. A Content-Security-Policy lets nothing run but these scripts. The one file opens no connection; the form for a host opens one where the
visitor agreed to load an address (?url=).
"""
import base64
import gzip
import hashlib
import pathlib
import sys

UNPACK = """
var Module = {instantiateWasm(imports, done) {
    const bytes_of = text => {
        if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
        const letters = atob(text), bytes = new Uint8Array(letters.length);
        for (let n = 0; n < letters.length; ++n) bytes[n] = letters.charCodeAt(n);
        return bytes;
    };
    const packed = new Blob([bytes_of(document.getElementById("wasm").textContent)]);
    const unpacked = new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")),
        {headers: {"Content-Type": "application/wasm"}});
    WebAssembly.instantiateStreaming(unpacked, imports).then(
        made => done(made.instance, made.module),
        why => {
            const failure = document.getElementById("failure");
            failure.textContent = "attnscope does not start: " + why;
            failure.hidden = false;
        });
    return {};
}};
"""


CHOOSE = """
const program = document.createElement("script");
program.src = crossOriginIsolated ? "@threads@" : "@alone@";
document.body.append(program);
if (!crossOriginIsolated && parent === self) navigator.serviceWorker?.register("isolate.js").catch(() => {});
"""


def digest(script):
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def main(script, wasm, template, output, *options):
    code = pathlib.Path(script).read_text().replace("</script", "<\\/script")
    page = pathlib.Path(template).read_text()
    if "--one" in options:
        packed = base64.b64encode(gzip.compress(pathlib.Path(wasm).read_bytes(), 9, mtime=0)).decode()
        scripts = (f'<script type="application/octet-stream" id="wasm">{packed}</script>\n'
                   f"<script>{UNPACK}</script>\n<script>{code}</script>")
        page = page.replace("@policy@", digest(UNPACK) + " " + digest(code)).replace("@connect@", "'none'")
    else:
        name = pathlib.Path(script)
        choose = CHOOSE.replace("@threads@", f"{name.stem}-threads.js").replace("@alone@", name.name)
        scripts = f"<script>{choose}</script>"
        page = page.replace("@policy@", "'self' " + digest(choose)).replace("@connect@", "'self' https: http:")
    pathlib.Path(output).write_text(page.replace("@scripts@", scripts))


main(*sys.argv[1:])
