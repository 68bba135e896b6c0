// Loads the rest when the page is drawn: it would take its time from the first paint.

const load = () => import("./console.js");
if (document.hidden) load();
else requestAnimationFrame(() => setTimeout(load));
