// Small helpers: every page works without them. They fetch pages of this explorer and no others.
"use strict";

const byId = (id) => document.getElementById(id);

async function pageAt(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.text();
}

const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

// The tree opens a folder in place; without this its name leads to the folder's page.
document.addEventListener("click", async (event) => {
  const link = event.target.closest(".tree a.folder");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const item = link.parentElement;
  const below = item.querySelector(":scope > ul");
  const open = link.getAttribute("aria-expanded") === "true";
  if (below) {
    below.hidden = open;
  } else {
    try {
      const found = parsed(await pageAt(`${link.href}?part=1`));
      item.append(found.querySelector("ul"));
    } catch {
      window.location.assign(link.href);
      return;
    }
  }
  link.setAttribute("aria-expanded", String(!open));
});

// The search answers while one types.
const searchForm = document.querySelector("[data-live-search]");
if (searchForm) {
  const field = byId("query");
  let timer = 0;
  let asked = "";
  const look = async () => {
    const wanted = new URLSearchParams(new FormData(searchForm)).toString();
    if (wanted === asked) return;
    asked = wanted;
    try {
      const found = parsed(await pageAt(`/search?${wanted}&part=1`));
      if (asked !== wanted) return;
      byId("results").replaceChildren(...found.body.childNodes);
      history.replaceState(null, "", `/search?${wanted}`);
    } catch {
      searchForm.submit();
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 120);
  });
  if (!field.value) field.focus();
}

// Keys.
const editing = (element) =>
  element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);

function step(by) {
  const stops = [...document.querySelectorAll("main .card h3 a, main .rows a, main .references > li > a")];
  const at = stops.indexOf(document.activeElement);
  const next = stops[at < 0 ? (by > 0 ? 0 : stops.length - 1) : at + by];
  if (next) next.focus();
}

const KEYS = {
  "/": () => (byId("query") || byId("q")).focus(),
  f: () => window.location.assign("/"),
  t: () => window.location.assign("/tree"),
  m: () => byId("lens").querySelector("button").click(),
  "?": () => window.location.assign("/help"),
  j: () => step(1),
  k: () => step(-1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (editing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (act) {
    event.preventDefault();
    act();
  }
});
