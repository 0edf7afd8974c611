// Tables sort by a click (or Enter, Space) on a column's header: numbers as numbers, what is no number last.
(() => {
  const NUMBER = /^[^\w-]{0,2}(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.:-])/;
  const text = (row, column) => row.cells[column]?.textContent.trim() ?? "";
  const number = (row, column) => {
    const given = row.cells[column]?.dataset.value, found = text(row, column).match(NUMBER);
    return given !== undefined ? parseFloat(given) : found ? parseFloat(found[1]) : NaN;
  };
  const sort = (table, header) => {
    const column = header.cellIndex, order = header.ariaSort === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", order === 1 ? "ascending" : "descending");
    const compare = (a, b) => {
      const x = number(a, column), y = number(b, column), s = text(a, column), t = text(b, column);
      if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
      if (!isNaN(x)) return order * (x - y);
      if (!s !== !t) return s ? -1 : 1;
      return order * s.localeCompare(t, undefined, {numeric: true});
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(table, header));
      header.append(button);
    }
  }
})();
