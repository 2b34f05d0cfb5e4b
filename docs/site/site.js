// A click on a picture starts the program in its place, or plays its clip; without JavaScript the link opens it.
const is_plain = event => !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

for (const link of document.querySelectorAll("a[data-frame]"))
    link.addEventListener("click", event => {
        if (!is_plain(event) || innerWidth < 720) return;  // a small screen gives the program a page of its own
        event.preventDefault();
        const frame = document.createElement("iframe");
        frame.src = link.dataset.frame;
        frame.title = "attnscope, the running program";
        frame.allow = "clipboard-write; fullscreen";
        link.replaceWith(frame);
        frame.focus();
    });

for (const link of document.querySelectorAll("a[data-clip]"))
    link.addEventListener("click", event => {
        if (!is_plain(event)) return;
        event.preventDefault();
        const picture = link.querySelector("img"), still = picture.dataset.still ||= picture.src;
        const plays = link.classList.toggle("plays");
        picture.src = plays ? link.dataset.clip : still;
        link.querySelector(".button").firstChild.textContent = plays ? "Stop" : "Play";
    });
