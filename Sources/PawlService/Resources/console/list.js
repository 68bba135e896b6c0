// A list with only the rows that can be seen: each is placed by its number, so that a hundred thousand cost what ten do.

const spare = 5;

export class VirtualList {
  /** The ids of all rows, from the top. */
  order = [];
  /** The row that keys act on, and the only one that Tab reaches. */
  current = null;
  #rows = new Map();
  #spare = [];
  #rowHeight = 0;
  #isUsed = false;

  /** `makeRow()` returns `{ element, show(id) }`. Rows that went out of sight come back as others. */
  constructor(scroller, list, makeRow) {
    Object.assign(this, { scroller, list, makeRow });
    scroller.addEventListener("scroll", () => this.#draw(), { passive: true });
    // How high a row is depends on the width of the window and on the size of text.
    new ResizeObserver(() => this.#draw((this.#rowHeight = 0))).observe(scroller);
    list.addEventListener("focusin", ({ target }) => {
      this.#isUsed = true;
      this.#setCurrent(target.closest(".row").dataset.id);
    });
  }

  show(order) {
    const hadFocus = this.list.contains(document.activeElement);
    const index = this.order.indexOf(this.current);
    this.order = order;
    if (!this.#isUsed || !order.includes(this.current)) this.#setCurrent(order[this.#isUsed ? Math.min(Math.max(index, 0), order.length - 1) : 0]);
    this.list.ariaRowCount = order.length;
    this.#draw();
    if (hadFocus && !this.list.contains(document.activeElement)) this.focus(index);
  }

  update(ids = this.#rows.keys()) {
    for (const id of ids) this.#rows.get(id)?.show(id);
  }

  /** Moves to a row by its number, and to the control in it that is like the one with the focus. */
  focus(index) {
    const bounded = Math.max(0, Math.min(index, this.order.length - 1));
    if (this.order.length === 0) return;
    const part = document.activeElement?.dataset.part;
    const [top, { scrollTop, clientHeight }] = [bounded * this.#rowHeight, this.scroller];
    this.scroller.scrollTop = Math.min(top, Math.max(scrollTop, top + this.#rowHeight - clientHeight));
    this.#setCurrent(this.order[bounded]);
    this.#draw();
    const { element } = this.#rows.get(this.current);
    (element.querySelector(`[data-part="${part}"]:not([hidden])`) ?? element).focus({ preventScroll: true });
  }

  get rowsPerPage() {
    return Math.max(1, Math.floor(this.scroller.clientHeight / this.#rowHeight) - 1);
  }

  #setCurrent(id = null) {
    if (id === this.current) return;
    const old = this.current;
    this.current = id;
    this.#setReach(old);
    this.#setReach(id);
  }

  #setReach(id) {
    const element = this.#rows.get(id)?.element;
    const all = element ? [element, ...element.querySelectorAll("[tabindex]")] : [];
    for (const each of all) each.tabIndex = id === this.current ? 0 : -1;
  }

  #draw() {
    const { order, list } = this;
    const { scrollTop, clientHeight } = this.scroller;
    if (!this.#rowHeight && order.length > 0) {
      if (!list.firstElementChild) this.#render([[0, order[0]]]);
      this.#rowHeight = list.firstElementChild.offsetHeight;
    }
    const first = Math.max(0, Math.floor(scrollTop / this.#rowHeight) - spare);
    const wanted = this.#rowHeight ? order.slice(first, Math.ceil((scrollTop + clientHeight) / this.#rowHeight) + spare) : [];
    list.style.blockSize = `${order.length * this.#rowHeight}px`;
    // The one that has the focus, or gets it next, stays wherever it is.
    if (this.current && !wanted.includes(this.current)) wanted.push(this.current);
    this.#render(wanted.map((id) => [order.indexOf(id), id]).sort(([a], [b]) => a - b));
  }

  #render(wanted) {
    const kept = new Set(wanted.map(([, id]) => id));
    for (const [id, row] of this.#rows) {
      if (kept.has(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
      this.#spare.push(row);
    }
    let cursor = this.list.firstElementChild;
    for (const [index, id] of wanted) {
      const { element } = this.#rows.get(id) ?? this.#add(id);
      element.style.transform = `translateY(${index * this.#rowHeight}px)`;
      element.ariaRowIndex = index + 1;
      // Moving an element takes the focus from it, so the others move around the one that has it.
      while (cursor && cursor !== element && element.contains(document.activeElement)) {
        const next = cursor.nextElementSibling;
        cursor.remove();
        cursor = next;
      }
      if (element === cursor) cursor = cursor.nextElementSibling;
      else this.list.insertBefore(element, cursor);
    }
  }

  #add(id) {
    const row = this.#spare.pop() ?? this.makeRow();
    row.element.dataset.id = id;
    this.#rows.set(id, row);
    this.#setReach(id);
    row.show(id);
    return row;
  }
}
