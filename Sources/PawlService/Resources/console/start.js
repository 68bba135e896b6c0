// Loads the rest once the page is drawn, which it would hold up.

const load = () => import("./console.js");
if (document.hidden) load();
else requestAnimationFrame(() => setTimeout(load));
