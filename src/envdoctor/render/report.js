// Filter and search. Without it the page says the same; nothing is read from or sent to anywhere.
(() => {
  const tools = document.querySelector(".tools");
  const field = tools.querySelector("input[type=search]");
  const kinds = [...tools.querySelectorAll("input[type=checkbox]")];
  const said = tools.querySelector("output");
  const items = [...document.querySelectorAll("[data-find]")];
  const folds = [...document.querySelectorAll("details")];
  const words = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
  let opened = [];
  const show = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const off = new Set(kinds.filter((kind) => !kind.checked).map((kind) => kind.value));
    let count = 0;
    for (const item of items) {
      const fits = !off.has(item.dataset.find) && wanted.every((word) => words.get(item).includes(word));
      item.hidden = !fits;
      count += fits ? 1 : 0;
    }
    for (const fold of opened) fold.open = false;
    opened = wanted.length ? folds.filter((fold) => !fold.open && fold.querySelector("[data-find]:not([hidden])")) : [];
    for (const fold of opened) fold.open = true;
    said.textContent = wanted.length || off.size ? `${count} of ${items.length} shown` : "";
  };
  field.addEventListener("input", show);
  for (const kind of kinds) kind.addEventListener("change", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      show();
      field.blur();
    }
  });
  addEventListener("beforeprint", () => folds.forEach((fold) => { fold.open = true; }));
  tools.hidden = false;
})();
