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
  e: () => byId("edit")?.click(),
  "?": () => window.location.assign("/help"),
  j: () => step(1),
  k: () => step(-1),
};

document.addEventListener("keydown", (event) => {
  const form = event.target.closest("form");
  if ((event.ctrlKey || event.metaKey) && event.key === "s" && form?.querySelector("textarea")) {
    event.preventDefault();
    form.requestSubmit();
  }
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

// What was typed and not sent is not left without a word.
const unsaved = () =>
  [...document.querySelectorAll("main textarea")].some(
    (field) => field.value !== field.defaultValue || "unsaved" in field.dataset,
  );
let sent = false;
document.addEventListener("submit", (event) => {
  sent = event.target.querySelector("textarea") !== null;
});
window.addEventListener("beforeunload", (event) => {
  if (!sent && unsaved()) event.preventDefault();
});

// News: an open page is brought up to date, unless someone is typing in it.
const news = byId("news");
const wanted = document.body.dataset.live;
let stream = null;
let seen = document.body.dataset.change;
let fading = 0;

function say(text, act) {
  clearTimeout(fading);
  news.textContent = text;
  if (act) {
    const button = document.createElement("button");
    button.textContent = news.dataset.show;
    button.addEventListener("click", act);
    news.append(button);
  } else {
    fading = setTimeout(() => news.replaceChildren(), 4000);
  }
}

const typed = () =>
  unsaved() ||
  [...document.querySelectorAll("main textarea, main input")].some(
    (field) => field.type !== "hidden" && (field.value !== field.defaultValue || field === document.activeElement),
  );

// A page with words of the owner's is not loaded again: they are shown beside the file.
function showChange() {
  if (unsaved() && byId("compare")) byId("compare").click();
  else window.location.reload();
}

async function bringUpToDate() {
  const focused = document.activeElement?.closest("main") && document.activeElement.getAttribute("href");
  try {
    const found = parsed(await pageAt(window.location.href)).querySelector("main");
    byId("main").replaceChildren(...found.childNodes);
    if (focused) document.querySelector(`main a[href="${CSS.escape(focused)}"]`)?.focus();
    say(news.dataset.updated);
  } catch {
    say(news.dataset.changed, showChange);
  }
}

function hear(event) {
  seen = event.lastEventId || seen;
  const { notes } = JSON.parse(event.data);
  if (wanted !== "*" && !notes.includes(wanted) && !notes.includes("*")) return;
  if (typed()) say(news.dataset.changed, showChange);
  else bringUpToDate();
}

// Browsers open few connections to one site: a page that nobody sees gives its own back.
function listen() {
  if (document.hidden) {
    stream?.close();
    stream = null;
  } else if (wanted && !stream) {
    stream = new EventSource(`/live?since=${seen}`);
    stream.addEventListener("message", hear);
  }
}
document.addEventListener("visibilitychange", listen);
window.addEventListener("pagehide", () => {
  stream?.close();
  stream = null;
});
window.addEventListener("pageshow", () => {
  sent = false;
  listen();
});
listen();
