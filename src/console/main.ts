// The console's main module: sign-in, address, and drawing of the current screen.
import { byId, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import { addressIn, type Address, HOME, hashOf, linkTo, placeOf } from "./address.ts";
import { callsOf } from "./calls.ts";
import { failedScreen, noScreen } from "./failed-screen.ts";
import { showPlace } from "./navigation.ts";
import { SCREENS } from "./screens.ts";
import { isNoKey, keep, keptKey, linkedKey, scopeOf, type Session, signIn } from "./session.ts";
import { isIn, type Listener, type Scope, type Screen, Unanswered, type Visit } from "./visit.ts";
import { saidWhile } from "./waiting.ts";
import { zoneText } from "./words.ts";

const listener: Listener = document.body.dataset["listener"] === "admin" ? "admin" : "public";
const main = byId("screen", HTMLElement);
const title = byId("title", HTMLHeadingElement);
const status = byId("status", HTMLElement);
const form = byId("sign-in", HTMLFormElement);
const input = byId("key", HTMLInputElement);
const refusal = byId("sign-in-refusal", HTMLElement);
const shell = byId("shell", HTMLElement);
const places = byId("workspace", HTMLSelectElement);

let session: Session | null = null;
let visiting = new AbortController();
/** The drawn place, and the latest target of the address. */
let drawnPlace = "";
let led = "";
let attempts = 0;
/** A status message is kept for one navigation. */
let isLed = false;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void enter(input.value.trim());
});
byId("sign-out", HTMLButtonElement).addEventListener("click", () => {
  keep(null);
  leave("You are signed out.");
});
places.addEventListener("change", () => {
  location.hash = linkTo(places.value === "" ? null : places.value, HOME);
});
window.addEventListener("hashchange", () => {
  // With the console already open, such a link changes only the address.
  const linked = linkedKey(listener);
  if (linked !== null) return void enter(linked);
  if (!isLed) status.textContent = "";
  isLed = false;
  void draw();
});
byId("go-to", HTMLButtonElement).addEventListener("click", () => void search());
window.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  // Prevents the browser's own search.
  event.preventDefault();
  void search();
});
const first = linkedKey(listener) ?? keptKey();
if (first === null) leave("");
else void enter(first);

async function enter(key: string): Promise<void> {
  refusal.replaceChildren();
  if (key === "") return input.focus();
  attempts += 1;
  const own = attempts;
  form.setAttribute("aria-busy", "true");
  const signed = await saidWhile(signIn(listener, key));
  if (own !== attempts) return;
  form.removeAttribute("aria-busy");
  if (typeof signed === "string" || "failure" in signed) {
    if (isNoKey(signed)) keep(null);
    // Kept in the field for a retry.
    else input.value = key;
    leave("");
    const message =
      typeof signed === "string" ? element("p", { class: "bad" }, signed) : failureView(signed.failure, null);
    return refusal.replaceChildren(message);
  }
  session = signed;
  keep(key);
  input.value = "";
  byId("who", HTMLElement).textContent = signed.who;
  byId("zone", HTMLElement).textContent = zoneText();
  showPlaces(signed);
  form.hidden = true;
  shell.hidden = false;
  await draw();
}

function showPlaces({ workspaces, isOperator }: Session): void {
  const options = workspaces.map(({ slug }) => element("option", { value: slug }, slug));
  places.replaceChildren(...(isOperator ? [element("option", { value: "" }, "All workspaces")] : []), ...options);
}

/** On failure the list stays unchanged. */
async function placesChanged(): Promise<void> {
  const before = session;
  if (before === null) return;
  const signed = await signIn(listener, before.key);
  if (typeof signed === "string" || "failure" in signed || !isSignedIn(before)) return;
  session = signed;
  showPlaces(signed);
}

function leave(message: string): void {
  visiting.abort();
  session = null;
  drawnPlace = "";
  led = "";
  main.replaceChildren();
  // Clears everything visible, the quick-navigation dialog too, before another user signs in.
  document.querySelector("#go-to-text")?.closest("dialog")?.close();
  for (const part of [places, byId("nav", HTMLElement), byId("who", HTMLElement), title]) part.replaceChildren();
  status.textContent = "";
  document.title = "Console · Patchbay";
  shell.hidden = true;
  form.hidden = false;
  refusal.replaceChildren(...(message === "" ? [] : [element("p", { role: "status" }, message)]));
  input.focus();
}

/** Not on top of another dialog. */
async function search(): Promise<void> {
  if (session === null) return;
  const modules = await saidWhile(Promise.all([import("./go-to.ts"), import("./destinations.ts")])).catch(() => null);
  if (modules === null) {
    status.textContent = "The search could not be loaded: the gateway did not respond.";
    return;
  }
  const [{ goTo }, { destinationsFor }] = modules;
  if (document.querySelector("dialog[open]") !== null) return;
  if (session === null) return;
  const { isOperator, workspaces, areAll } = session;
  const place = { listener, workspace: workspaceOf(addressIn(location.hash), session) };
  const emptyText = areAll
    ? "No matches."
    : `No matches among the first ${workspaces.length} workspaces. See the screen Workspaces for the others.`;
  await goTo((typed) => destinationsFor(typed, { isOperator, workspaces }, place, SCREENS), emptyText);
}

/** Draws the screen of the address and aborts a drawing in progress. */
async function draw(): Promise<void> {
  if (session === null) return;
  const requested = addressIn(location.hash);
  const workspace = workspaceOf(requested, session);
  const address: Address = { ...requested, workspace };
  const scope = scopeOf(listener, session, workspace);
  const screens = scope === null ? [] : SCREENS.filter((screen) => isIn(screen, scope));
  const screen = screens.find(({ name }) => name === address.screen);
  visiting.abort();
  visiting = new AbortController();
  const { signal } = visiting;
  showPlace(address, screens);
  led = placeOf(address);
  const isNew = drawnPlace !== led;
  main.setAttribute("aria-busy", "true");
  // Controls of the previous screen are disabled: they would act in a place that the address no longer shows.
  main.inert = isNew;
  const nodes =
    screen === undefined || scope === null
      ? [noScreen(address)]
      : await contentOf(screen, visitOf(session, scope, address, signal));
  if (signal.aborted) return;
  main.removeAttribute("aria-busy");
  main.inert = false;
  if (nodes === null) {
    keep(null);
    return leave("Your key no longer works. Sign in with another one.");
  }
  title.textContent = [screen?.title ?? "Not found", ...address.path].join(" · ");
  document.title = `${title.textContent} · Patchbay`;
  drawnPlace = led;
  const focused = main.contains(document.activeElement) ? document.activeElement : null;
  main.replaceChildren(...nodes);
  if (!isNew) putBack(focused);
  // In a closed select box each arrow key is a change, so the focus stays there while the user steps through it.
  else if (document.activeElement !== places) title.focus();
}

function workspaceOf(requested: Address, { isOperator, workspaces }: Session): string | null {
  // Administrators have one workspace, which is the default of the address.
  const own = isOperator ? null : (workspaces[0]?.slug ?? null);
  // Records contain a workspace's id, people use its slug.
  const match = workspaces.find(({ id }) => id === requested.workspace);
  return match?.slug ?? requested.workspace ?? own;
}

/** Restores the focus to the same element if it exists again, else moves it to the start of the new content, if any. */
function putBack(focused: Element | null): void {
  if (focused === null) return;
  const sameElement = focused.id === "" ? null : main.querySelector<HTMLElement>(`#${CSS.escape(focused.id)}`);
  sameElement?.focus();
  if (sameElement === null) title.focus({ preventScroll: true });
}

/** Null: the key was rejected. */
async function contentOf(screen: Screen, visit: Visit): Promise<readonly Node[] | null> {
  const show = await loaded(screen);
  if (show === null) return failedScreen(UNLOADED, draw);
  try {
    return await show(visit);
  } catch (error) {
    return visit.signal.aborted ? [] : failedScreen(error, draw);
  }
}

/** Null: its modules could not be loaded. */
const loaded = ({ load }: Screen): Promise<Awaited<ReturnType<Screen["load"]>> | null> =>
  saidWhile(load()).catch(() => null);

function visitOf(session: Session, scope: Scope, address: Address, signal: AbortSignal): Visit {
  const isHere = (): boolean => isSignedIn(session) && led === placeOf(address);
  return {
    ...callsOf(session, scope, signal),
    scope,
    path: address.path,
    query: address.query,
    signal,
    ownKey: session.keyId,
    link: (name, path, query) => linkTo(address.workspace, name, path, query),
    filter: (query) => {
      location.hash = hashOf({ ...address, query });
    },
    go: (href) => {
      if (!isHere()) return;
      isLed = location.hash !== href;
      location.hash = href;
    },
    redraw: async () => {
      if (isHere() || !isFilledIn()) await draw();
    },
    placesChanged,
    say: (text) => {
      if (isSignedIn(session)) status.textContent = text;
    },
  };
}

const isSignedIn = ({ key }: Session): boolean => session?.key === key;

/** Whether a form is open, which a background refresh must not overwrite. */
const isFilledIn = (): boolean => main.querySelector("form.form") !== null;

const UNLOADED = new Unanswered({ ok: false, failure: { kind: "unreachable" }, requestId: null });
