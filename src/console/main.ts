// The console: who sits here, where the address leads, and the screen that is drawn there.
import { byId, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import { ask, type Outcome } from "../page/ask.ts";
import { addressIn, type Address, HOME, hashOf } from "./address.ts";
import { showPlace } from "./navigation.ts";
import { SCREENS } from "./screens.ts";
import { keep, keptKey, scopeOf, type Session, signIn } from "./session.ts";
import { type Answer, type Change, type Listener, type Scope, type Screen, Unanswered, type Visit } from "./visit.ts";

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
let shown = "";
/** What is said goes along to where its screen leads, and no further. */
let isLed = false;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void enter(input.value.trim());
});
byId("sign-out", HTMLButtonElement).addEventListener("click", () => leave("You are signed out."));
places.addEventListener("change", () => {
  location.hash = hashOf({
    workspace: places.value === "" ? null : places.value,
    screen: HOME,
    path: [],
    query: new URLSearchParams(),
  });
});
window.addEventListener("hashchange", () => {
  if (!isLed) status.textContent = "";
  isLed = false;
  void draw();
});
const first = keptKey(listener);
if (first === null) leave("");
else void enter(first);

async function enter(key: string): Promise<void> {
  refusal.replaceChildren();
  if (key === "") return input.focus();
  form.setAttribute("aria-busy", "true");
  const signed = await signIn(listener, key);
  form.removeAttribute("aria-busy");
  if (typeof signed === "string" || "failure" in signed) {
    leave("");
    const why = typeof signed === "string" ? element("p", { class: "bad" }, signed) : failureView(signed.failure, null);
    return refusal.replaceChildren(why);
  }
  session = signed;
  keep(key);
  input.value = "";
  byId("who", HTMLElement).textContent = signed.who;
  showPlaces(signed);
  form.hidden = true;
  shell.hidden = false;
  await draw();
}

function showPlaces({ workspaces, isOperator }: Session): void {
  const chosen = workspaces.map(({ slug }) => element("option", { value: slug }, slug));
  places.replaceChildren(...(isOperator ? [element("option", { value: "" }, "The whole platform")] : []), ...chosen);
}

/** What cannot be read stays as it was. */
async function placesChanged(): Promise<void> {
  if (session === null) return;
  const signed = await signIn(listener, session.key);
  if (typeof signed === "string" || "failure" in signed) return;
  session = signed;
  showPlaces(signed);
}

function leave(why: string): void {
  visiting.abort();
  session = null;
  shown = "";
  keep(null);
  main.replaceChildren();
  shell.hidden = true;
  form.hidden = false;
  refusal.replaceChildren(...(why === "" ? [] : [element("p", { role: "status" }, why)]));
  input.focus();
}

/** Draws what the address says. Whatever was being drawn before it ends. */
async function draw(): Promise<void> {
  if (session === null) return;
  const asked = addressIn(location.hash);
  // Administrators have one workspace: an address without any means theirs.
  const own = session.isOperator ? null : (session.workspaces[0]?.slug ?? null);
  // Records name a workspace by its id, people by its slug.
  const named = session.workspaces.find(({ id }) => id === asked.workspace);
  const workspace = named?.slug ?? asked.workspace ?? own;
  const address: Address = { ...asked, workspace };
  const scope = scopeOf(listener, session, workspace);
  const screens = SCREENS.filter((screen) => isIn(screen, scope));
  const screen = screens.find(({ name }) => name === address.screen);
  visiting.abort();
  visiting = new AbortController();
  const { signal } = visiting;
  showPlace(address, screens);
  main.setAttribute("aria-busy", "true");
  const nodes =
    screen === undefined || scope === null
      ? [noScreen(address)]
      : await contentOf(screen, visitOf(session, scope, address, signal));
  if (signal.aborted) return;
  main.removeAttribute("aria-busy");
  if (nodes === null) return leave("Your key works no more. Sign in with another one.");
  title.textContent = [screen?.title ?? "Nothing here", ...address.path].join(" · ");
  document.title = `${title.textContent} · Patchbay`;
  const place = placeOf(address);
  const isNew = shown !== place;
  shown = place;
  const held = main.contains(document.activeElement) ? (document.activeElement?.id ?? "") : "";
  main.replaceChildren(...nodes);
  if (isNew) title.focus();
  else if (held !== "") document.querySelector<HTMLElement>(`#${CSS.escape(held)}`)?.focus();
}

/** null: the key is refused. */
async function contentOf(screen: Screen, visit: Visit): Promise<readonly Node[] | null> {
  try {
    const show = await screen.load();
    return await show(visit);
  } catch (error) {
    if (error instanceof Unanswered) {
      const { failure, requestId } = error.outcome;
      return failure.kind === "refused" && failure.status === 401 ? null : [failureView(failure, requestId)];
    }
    if (visit.signal.aborted) return [];
    const said = error instanceof Error ? error.message : "unknown";
    return [
      element(
        "section",
        { class: "failure", role: "alert" },
        element("h2", {}, "This screen failed"),
        element(
          "p",
          {},
          `It is a fault of the console's: ${said}. Load the page again; what it shows can be read by the API as well.`,
        ),
      ),
    ];
  }
}

function visitOf({ key, keyId, isOperator }: Session, scope: Scope, address: Address, signal: AbortSignal): Visit {
  const askAt = <T>(path: string, method: string, { body, ifMatch }: Change = {}): Promise<Outcome<T>> =>
    ask(path, key, {
      method,
      signal: method === "GET" ? signal : null,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(ifMatch === undefined || ifMatch === null ? {} : { "if-match": ifMatch }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const readAt = async <T>(path: string): Promise<Answer<T>> => {
    const outcome = await askAt<T>(path, "GET");
    if (!outcome.ok) throw new Unanswered(outcome);
    return outcome;
  };
  return {
    scope,
    path: address.path,
    query: address.query,
    signal,
    ownKey: keyId,
    read: async <T>(path: string) => (await readAt<T>(scope.base + path)).data,
    readWithEtag: (path) => readAt(scope.base + path),
    readPlatform: async <T>(path: string) => (isOperator ? (await readAt<T>(`/admin/v1${path}`)).data : null),
    ask: (method, path, change) => askAt(scope.base + path, method, change),
    link: (name, path = [], query = {}) =>
      hashOf({ workspace: address.workspace, screen: name, path, query: new URLSearchParams(query) }),
    filter: (query) => {
      location.hash = hashOf({ ...address, query });
    },
    go: (href) => {
      isLed = location.hash !== href;
      location.hash = href;
    },
    redraw: () => draw(),
    placesChanged,
    say: (text) => {
      status.textContent = text;
    },
  };
}

function isIn(screen: Screen, scope: Scope | null): boolean {
  const where = scope?.workspace === null ? "platform" : "workspace";
  return scope !== null && screen.scopes.includes(where) && (screen.listener ?? listener) === listener;
}

/** Filters that change are the same place: whoever stands in one stays there. */
const placeOf = ({ workspace, screen, path }: Address): string => JSON.stringify([workspace, screen, path]);

function noScreen({ screen }: Address): HTMLElement {
  return element("p", { class: "empty" }, `There is no screen “${screen}” here. Choose one on the left.`);
}
