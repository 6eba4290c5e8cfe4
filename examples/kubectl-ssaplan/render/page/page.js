"use strict";
// Only adds to the page: without it everything can be read and unfolded.
(() => {
  const byId = (id) => document.getElementById(id);
  const objects = [...document.querySelectorAll("section.object")];
  const items = new Map([...document.querySelectorAll("nav li")].map((li) => [li.dataset.object, li]));
  const filters = [...document.querySelectorAll("[data-filter]")];
  const search = byId("search");
  const texts = new Map();
  const text = (object) => {
    if (!texts.has(object)) texts.set(object, object.textContent.toLowerCase());
    return texts.get(object);
  };
  const matches = (object, words) =>
    filters.every((f) => !f.value || object.dataset[f.dataset.filter].split("\n").includes(f.value)) &&
    words.every((word) => text(object).includes(word));

  const update = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const object of objects) {
      const match = matches(object, words);
      object.hidden = !match;
      items.get(object.id).hidden = !match;
      if (match) shown++;
    }
    for (const branch of [...document.querySelectorAll("nav details")].reverse()) {
      branch.hidden = !branch.querySelector("li:not([hidden])");
    }
    byId("shown").textContent = `${shown} of ${objects.length} objects`;
  };

  const reveal = () => {
    const target = location.hash && byId(location.hash.slice(1));
    if (!target || !target.matches("section.object")) return;
    const details = target.querySelector("details");
    details.open = true;
    details.querySelector("summary").focus({ preventScroll: true });
    target.scrollIntoView(); // what stands above may have changed its height
  };
  const openAll = (open) => () => {
    for (const object of objects) if (!object.hidden) object.querySelector("details").open = open;
  };

  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, 120);
  });
  for (const filter of filters) filter.addEventListener("change", update);
  byId("open").addEventListener("click", openAll(true));
  byId("close").addEventListener("click", openAll(false));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      update();
    }
  });
  addEventListener("hashchange", reveal);
  byId("filters").hidden = false;
  update();
  reveal();
})();
