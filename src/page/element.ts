// DOM helpers: finds and creates elements, and creates two common buttons.
type Child = Node | string;

export function byId<E extends HTMLElement>(id: string, kind: new () => E): E {
  const found = document.querySelector(`#${id}`);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${id}`);
}

export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  created.append(...children);
  return created;
}

export function button(label: string, press: (own: HTMLButtonElement) => void | Promise<void>): HTMLButtonElement {
  const created = element("button", { type: "button" }, label);
  created.addEventListener("click", () => void pressed(created, async () => press(created)));
  return created;
}

/** Ignores further presses until the work is done. `disabled` would do so too, but moves the keyboard focus away. */
export async function pressed(own: HTMLButtonElement, work: () => Promise<void>): Promise<void> {
  if (own.ariaDisabled === "true") return;
  own.ariaDisabled = "true";
  try {
    await work();
  } finally {
    own.ariaDisabled = null;
  }
}

const SAID_MS = 1_500;

export function copyButton(label: string, text: () => string): HTMLButtonElement {
  return button(label, async (own) => {
    const copied = await copy(text());
    own.textContent = copied ? "Copied" : "Copy manually";
    setTimeout(() => (own.textContent = label), SAID_MS);
  });
}

/** Browsers disable the clipboard on pages without https. */
async function copy(text: string): Promise<boolean> {
  if (window.isSecureContext)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const before = document.activeElement;
  const area = element("textarea", { class: "hidden" }, text);
  // Elements behind an open dialog cannot be selected.
  (before?.closest("dialog") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

export function table(caption: string, heads: readonly Child[], rows: readonly (readonly Child[])[]): HTMLElement {
  const headRow = element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)));
  const bodyRows = rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))));
  const tableElement = element("table", {}, element("caption", {}, caption), element("thead", {}, headRow));
  tableElement.append(element("tbody", {}, ...bodyRows));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, tableElement);
}
