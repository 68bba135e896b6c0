// A list with only the rows that can be seen: each is placed by its number, so that a hundred thousand cost what ten do.

const spare = 5;

export class VirtualList {
	/** Ids, from the top. */
	order = [];
	/** The row that keys act on. The focus is the list's: rows come and go. */
	current;
	#rows = new Map();

	/** `makeRow(id)` returns `{ element, show() }`. How high rows are the style sheet says, in `--row`. */
	constructor(list, makeRow) {
		Object.assign(this, { list, makeRow, scroller: list.parentElement });
		this.scroller.addEventListener("scroll", () => this.#draw(), { passive: true });
		new ResizeObserver(() => this.#draw()).observe(this.scroller);
		list.onfocus = () => list.matches(":focus-visible") && this.goTo(this.order.indexOf(this.current));
	}

	show(order) {
		const index = Math.max(0, Math.min(this.order.indexOf(this.current), order.length - 1));
		if (this.current && !order.includes(this.current)) this.current = order[index];
		this.order = order;
		this.list.ariaRowCount = order.length;
		this.list.style.height = `calc(${order.length} * var(--row))`;
		this.#draw();
	}

	update(ids = this.#rows.keys()) {
		for (const id of ids) this.#rows.get(id)?.show();
	}

	/** Makes a row the current one, and brings it into sight. */
	goTo(index) {
		const bounded = Math.max(0, Math.min(index, this.order.length - 1));
		const [top, { scrollTop, clientHeight }] = [bounded * this.#rowHeight, this.scroller];
		this.current = this.order[bounded];
		this.scroller.scrollTop = Math.min(top, Math.max(scrollTop, top + this.#rowHeight - clientHeight));
		this.#draw();
	}

	get #rowHeight() {
		return this.list.offsetHeight / this.order.length || 1;
	}

	get rowsPerPage() {
		return Math.max(1, Math.floor(this.scroller.clientHeight / this.#rowHeight) - 1);
	}

	#draw() {
		const { list, scroller } = this;
		const height = this.#rowHeight;
		const first = Math.max(0, Math.floor(scroller.scrollTop / height) - spare);
		const ids = this.order.slice(first, Math.ceil((scroller.scrollTop + scroller.clientHeight) / height) + spare);
		for (const [id, { element }] of this.#rows) {
			if (ids.includes(id)) continue;
			element.remove();
			this.#rows.delete(id);
		}
		ids.forEach((id, index) => {
			if (!this.#rows.has(id)) this.#rows.set(id, this.makeRow(id));
			const { element } = this.#rows.get(id);
			element.style.translate = `0 calc(${first + index} * var(--row))`;
			element.ariaRowIndex = first + index + 1;
			element.classList.toggle("current", id === this.current);
			if (list.children[index] !== element) list.insertBefore(element, list.children[index]);
		});
		list.setAttribute("aria-activedescendant", this.current ?? "");
	}
}
