// Loads the scripts after the page is drawn: they would delay it.

const load = () => import("./console.js");
if (document.hidden) load();
else requestAnimationFrame(() => setTimeout(load));
