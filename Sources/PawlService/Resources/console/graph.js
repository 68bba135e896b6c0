// The speed of the whole service over the last five minutes, a point a second.

import { $, setText } from "./dom.js";
import * as format from "./format.js";
import { store } from "./store.js";

const samples = new Array(300).fill(0);
const [area, line] = $("graph").querySelectorAll("path");

export function startGraph() {
  draw();
  setInterval(() => {
    samples.push([...store.all.values()].reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0));
    samples.shift();
    if (!document.hidden) draw();
  }, 1000);
}

/** In a box of 300 by 40, with some air above. */
function draw() {
  const [now, peak] = [samples.at(-1), Math.max(...samples)];
  const path = "M" + samples.map((value, index) => `${index},${(39 - (34 * value) / (peak || 1)).toFixed(1)}`).join("L");
  line.setAttribute("d", path);
  area.setAttribute("d", path + "V40H0Z");
  setText($("speed"), format.speed(now));
  setText($("peak"), `peak ${format.speed(peak)} in 5 minutes`);
  $("graph").firstElementChild.ariaLabel = `Speed of the last 5 minutes: now ${format.speed(now)}, at most ${format.speed(peak)}`;
}
