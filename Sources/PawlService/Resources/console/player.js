// The one player of the page: for a preview, or a finished file.

import { $, make, say, setText } from "./dom.js";

let media = null;

/** Plays an address; or pauses and goes on, if that is what plays. */
export function play(address, title, isVideo) {
  if (media?.getAttribute("src") === address) return media.paused ? media.play() : media.pause();
  close();
  media = make(isVideo ? "video" : "audio", { controls: "", autoplay: "", src: address, "aria-label": title });
  media.onerror = () => say(`${title} cannot be played here.`, true);
  setText($("player-title"), title);
  $("player").append(media);
  $("player").hidden = false;
}

function close() {
  if (media) URL.revokeObjectURL(media.src);
  media?.pause();
  media?.remove();
  media = null;
  $("player").hidden = true;
}

$("player-close").addEventListener("click", close);
