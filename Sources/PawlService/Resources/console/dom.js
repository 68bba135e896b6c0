// The few things this page needs of the document. Text goes in as text: nothing here, or anywhere else, parses markup.

export const $ = (id) => document.getElementById(id);

/** Makes an element; strings among the children become text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function icon(name) {
  const [svg, use] = ["svg", "use"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  use.setAttribute("href", "#i-" + name);
  svg.ariaHidden = "true";
  svg.append(use);
  return svg;
}

/** Changes text only where it differs: that keeps selections, and costs no layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A copy of a template's element, and of its parts by name. */
export function stamp(id) {
  const element = $(id).content.firstElementChild.cloneNode(true);
  const parts = Object.fromEntries([...element.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
  return { element, parts };
}

/** Texts of any direction, one after the other. */
export function isolated(texts) {
  return texts.filter(Boolean).flatMap((text, index) => [index ? " · " : "", make("bdi", {}, text)]);
}

/** An address from outside, if it can be followed: http or https, and nothing that runs. */
export const webAddress = (text) => (/^https?:/i.test(text) && URL.canParse(text) ? text : null);

/** Puts artwork first in its place, or a symbol where there is none or it does not load. */
export function artwork(holder, address, symbol) {
  const source = webAddress(address);
  if (holder.dataset.source === (source ?? symbol)) return;
  holder.dataset.source = source ?? symbol;
  const image = source ? make("img", { src: source, alt: "", loading: "lazy" }) : icon(symbol);
  image.onerror = () => image.replaceWith(icon(symbol));
  holder.querySelector(":scope > svg, :scope > img")?.remove();
  holder.prepend(image);
}

let toastTimer;

/** Says something in passing, to eyes and to screen readers. */
export function say(text, isError = false) {
  setText($("toast"), text);
  $("toast").className = isError ? "shown error" : "shown";
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => ($("toast").className = ""), isError ? 10_000 : 4000);
}

/** Does what was asked for; what goes wrong is said. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    say(error.message, true);
  }
}

/** A dialog with a form. It closes when `submit` is done, unless that throws or returns false. */
export function wireDialog(id, submit) {
  const dialog = $(id);
  const form = dialog.firstElementChild;
  const complaint = form.querySelector("[role=alert]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    setText(complaint, "");
    try {
      if ((await submit()) !== false) dialog.close();
    } catch (error) {
      setText(complaint, error.message);
    }
  });
  form.querySelector("[data-close]")?.addEventListener("click", () => dialog.close());
  const open = () => {
    setText(complaint, "");
    if (!dialog.open) dialog.showModal();
  };
  return { dialog, form, fields: form.elements, complaint, open };
}

let answer;
const question = wireDialog("confirm", () => answer({ deletesFiles: question.fields.files.checked }));
question.dialog.addEventListener("close", () => answer(null));

/** Asks before something is lost; null if it shall be kept. */
export function ask(title, text, verb, offersFiles = false) {
  const { files, yes } = question.fields;
  question.open();
  setText($("confirm-title"), title);
  setText(question.complaint, text);
  setText(yes, verb);
  files.checked = false;
  files.parentElement.hidden = !offersFiles;
  return new Promise((resolve) => (answer = resolve));
}
