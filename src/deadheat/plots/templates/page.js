"use strict";
// Tables that sort, filter and turn pages. Without this script they show their first rows.
const ROWS = matchMedia("(max-width: 40rem)").matches ? 5 : 25; // on a phone each row is a list

function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null); // what has no value comes last
  return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
}

function begin(grid) {
  const columns = JSON.parse(grid.querySelector("script").textContent);
  const body = grid.querySelector("tbody"), status = grid.querySelector("[role=status]");
  const input = grid.querySelector("input"), heads = [...grid.querySelectorAll("thead th")];
  const buttons = [...grid.querySelectorAll("[data-page]")];
  const all = columns[0].text.map((_, i) => i);
  let shown = all, page = 0, sorted = -1, down = false;

  function draw() {
    const first = page * ROWS, last = Math.min(first + ROWS, shown.length);
    body.replaceChildren(...shown.slice(first, last).map((i) => {
      const row = document.createElement("tr");
      for (const column of columns) {
        const cell = document.createElement("td");
        cell.textContent = cell.title = column.text[i];
        cell.dataset.name = column.name;
        if (column.numeric) { cell.className = "n"; cell.removeAttribute("title"); }
        row.append(cell);
      }
      return row;
    }));
    const count = shown.length === all.length ? `${all.length}` : `${shown.length} of ${all.length}`;
    status.textContent = shown.length ? `Rows ${first + 1} to ${last} of ${count}` : `No row of ${all.length} fits`;
    buttons[0].disabled = page === 0;
    buttons[1].disabled = last >= shown.length;
  }

  function arrange() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = columns.filter((column, c) => c === 0 || !column.numeric);
    shown = all.filter((i) => words.every((word) => texts.some((column) => column.text[i].toLowerCase().includes(word))));
    if (sorted >= 0) {
      const keys = columns[sorted].keys;
      shown.sort((a, b) => {
        if (keys[a] === null || keys[b] === null) return compare(keys[a], keys[b]) || a - b;
        return (down ? -1 : 1) * compare(keys[a], keys[b]) || a - b;
      });
    }
    page = 0;
    draw();
  }

  heads.forEach((head, c) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      down = sorted === c ? !down : false;
      sorted = c;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      arrange();
    });
  });
  input.addEventListener("input", arrange);
  buttons.forEach((button) => button.addEventListener("click", () => { page += Number(button.dataset.page); draw(); }));
  if (all.length <= ROWS) buttons[0].parentElement.hidden = true;
  grid.classList.add("ready");
  draw();
}

document.querySelectorAll("[data-grid]").forEach(begin);
