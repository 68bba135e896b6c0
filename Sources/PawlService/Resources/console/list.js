// A list that draws only the visible rows: its length does not matter.

const spare = 5;

export class VirtualList {
	order = [];
	// The row for keys. The list has the focus, since rows come and go.
	current;
	#rows = new Map();

	// `makeRow(id)` returns `{ element, show() }`.
	constructor(list, makeRow) {
		Object.assign(this, { list, makeRow, scroller: list.parentElement });
		this.scroller.onscroll = () => this.#draw();
		new ResizeObserver(() => this.#draw()).observe(this.scroller);
		list.onfocus = () => list.matches(":focus-visible") && this.goTo(this.order.indexOf(this.current));
	}

	show(order) {
		// The next row replaces a removed one.
		if (this.current && !order.includes(this.current)) this.current = order[this.order.indexOf(this.current)] ?? order.at(-1);
		this.order = order;
		this.list.ariaRowCount = order.length;
		this.list.style.height = `calc(${order.length} * var(--row))`;
		this.#draw();
	}

	update(ids = this.#rows.keys()) {
		for (const id of ids) this.#rows.get(id)?.show();
	}

	// Makes a row the current one, and scrolls to it.
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
		const drawn = this.#rows;
		this.#rows = new Map(ids.map((id) => [id, drawn.get(id) ?? this.makeRow(id)]));
		for (const [id, { element }] of drawn) if (!this.#rows.has(id)) element.remove();
		ids.forEach((id, index) => {
			const { element } = this.#rows.get(id);
			element.style.translate = `0 calc(${first + index} * var(--row))`;
			element.ariaRowIndex = first + index + 1;
			element.classList.toggle("current", id === this.current);
			if (list.children[index] !== element) list.insertBefore(element, list.children[index]);
		});
		list.setAttribute("aria-activedescendant", this.current ?? "");
	}
}
