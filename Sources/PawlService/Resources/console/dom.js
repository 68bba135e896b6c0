// Elements of the page. No text is parsed as markup.

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
	element.append(...children);
	return element;
}

// Drawn in a box of 16 by 16.
const [arrow, circle, cross, triangle] = ["M8 2v8M4.5 7 8 10.5 11.5 7M3 14h10", "M13 8a5 5 0 1 1-2-4m2-2v3h-3", "m4 4 8 8m0-8-8 8", "M5 3v10l8-5z"];
const icons = {
	cancel: cross,
	remove: cross,
	details: "M3 8h.1m4.9 0h.1m4.9 0h.1",
	download: arrow,
	file: "M4 2h5l3 3v9H4zM9 2v3h3",
	downloads: "M2 4h12M2 8h12M2 12h12",
	"move to top": "M3 2h10M8 14V5M4.5 8.5 8 5l3.5 3.5",
	open: "m6 3 5 5-5 5",
	pause: "M5.5 3v10m5-10v10",
	play: triangle,
	preview: triangle,
	refresh: circle,
	resume: triangle,
	retry: circle,
	save: "M3 3h8l2 2v8H3zm3 0v3h4V3M5 13V9h6v4",
	settings: "M2 5h12M2 11h12M10 3v4M6 9v4",
	skip: "M4 3v10l6-5zM12 3v10",
	subscribe: "M3 13h.1M3 8a5 5 0 0 1 5 5M3 3a10 10 0 0 1 10 10",
	take: arrow,
};

export function icon(name) {
	const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
	svg.setAttribute("viewBox", "0 0 16 16");
	svg.ariaHidden = "true";
	path.setAttribute("d", icons[name]);
	svg.append(path);
	return svg;
}

// Sets a different text only: this keeps selections and the layout.
export function setText(element, text) {
	if (element.textContent !== text) element.textContent = text;
}

// A copy of a template, and its elements by first class.
export function clone(id) {
	const element = $(id).content.firstElementChild.cloneNode(true);
	const nodes = Object.fromEntries([...element.querySelectorAll("[class]")].map((node) => [node.classList[0], node]));
	return { element, nodes };
}

// Makes these elements the children. A moved one loses the focus.
export function place(parent, elements) {
	const kept = new Set(elements);
	for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
	elements.forEach((element, index) => parent.children[index] === element || parent.insertBefore(element, parent.children[index]));
}

// Texts of any direction in one line.
export function isolated(texts) {
	return texts.filter(Boolean).flatMap((text, index) => [index ? " · " : "", make("bdi", {}, text)]);
}

// The text if it is an http or https URL.
export const webAddress = (text) => (/^https?:/i.test(text) && URL.canParse(text) ? text : null);

export function artwork(address) {
	const source = webAddress(address);
	const image = source ? make("img", { src: source, alt: "", loading: "lazy" }) : icon("file");
	image.onerror = () => image.replaceWith(icon("file"));
	return image;
}

let toastTimer;

// Shows a message for some seconds.
export function say(text, isError = false) {
	setText($("toast"), text);
	$("toast").className = isError ? "shown error" : "shown";
	clearTimeout(toastTimer);
	toastTimer = setTimeout(() => {
		$("toast").className = "";
		setText($("toast"), "");
	}, isError ? 10_000 : 4000);
}

export const attempt = (work) => Promise.try(work).catch(({ message }) => say(message, true));

// Adds buttons to a dialog. It closes after `submit`, or shows the error of `submit`.
export function wireDialog(id, verb, closing, submit) {
	const dialog = $(id);
	const form = dialog.firstElementChild;
	const complaint = make("p", { class: "error", role: "alert" });
	form.firstElementChild.id = `${id}-title`;
	dialog.setAttribute("aria-labelledby", `${id}-title`);
	const close = make("button", { type: "button" }, closing);
	const yes = make("button", { class: "primary" }, verb);
	form.append(complaint, make("menu", {}, close, yes));
	close.onclick = () => dialog.close();
	form.onsubmit = async (event) => {
		event.preventDefault();
		setText(complaint, "");
		try {
			await submit();
			dialog.close();
		} catch (error) {
			setText(complaint, error.message);
		}
	};
	const open = (values = {}) => {
		for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
		setText(complaint, "");
		if (!dialog.open) dialog.showModal();
	};
	return { dialog, form, fields: form.elements, complaint, yes, close, open };
}

let answer;
const question = wireDialog("confirm", "", "Keep", () => answer({ deletesFiles: question.fields.files.checked }));
// Called late: the next may be open.
question.dialog.onclose = () => question.dialog.open || answer(null);

// Asks before a loss, with a box for `offer`. Resolves to null if the user declines.
export function ask(title, text, verb, offer) {
	const { files } = question.fields;
	setText($("confirm-title"), title);
	setText($("confirm-text"), text);
	setText(question.yes, verb);
	files.checked = false;
	files.parentElement.hidden = !offer;
	setText(files.nextElementSibling, offer);
	question.open();
	return new Promise((resolve) => (answer = resolve));
}
