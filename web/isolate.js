// A service worker for hosts whose headers cannot be set: it adds those that isolate the page, which browsers require for threads.
const isolated = reply => {
    if (!reply.status) return reply;  // a redirect, which the browser follows
    const headers = new Headers(reply.headers);
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Embedder-Policy", "require-corp");
    return new Response(reply.body, {status: reply.status, statusText: reply.statusText, headers});
};
addEventListener("fetch", event => {
    if (new URL(event.request.url).origin === location.origin) event.respondWith(fetch(event.request).then(isolated));
});
