// The quick-navigation dialog: typing filters the list, arrow keys select, Enter opens.
import { element } from "../page/element.ts";
import type { Destination } from "./destinations.ts";
import { showDialog } from "./dialog.ts";

const LIST = "go-to-list";

/** Resolves on navigation or close. `find` is called on each input; `emptyText` is shown if it finds nothing. */
export async function goTo(find: (typed: string) => readonly Destination[], emptyText: string): Promise<void> {
  let found: readonly Destination[] = [];
  let selectedIndex = 0;
  const input = element("input", {
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": LIST,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    id: "go-to-text",
  });
  const list = element("ul", { id: LIST, role: "listbox", "aria-label": "Go to", class: "choices" });
  const statusLine = element("p", { class: "soft", role: "status" });
  const show = (at: number): void => {
    selectedIndex = found.length === 0 ? 0 : (at + found.length) % found.length;
    [...list.children].forEach((option, index) =>
      option.setAttribute("aria-selected", String(index === selectedIndex)),
    );
    if (found.length === 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", optionId(selectedIndex));
  };
  const go = (destination: Destination | undefined): void => {
    if (destination === undefined) return;
    location.hash = destination.href;
    dialog.close();
  };
  const search = (): void => {
    found = find(input.value);
    list.replaceChildren(...found.map((each, index) => optionOf(each, index, go)));
    statusLine.textContent = found.length === 0 ? `${emptyText} Enter full ids of requests and jobs.` : "";
    show(0);
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    // During input-method composition these keys select among its suggestions.
    if (event.isComposing) return;
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) show(selectedIndex + step);
    else if (event.key === "Enter") go(found[selectedIndex]);
    else return;
    event.preventDefault();
  });
  const label = element("label", { for: input.id }, "A screen, a workspace, or the id of a request or a job");
  const dialog = showDialog("Go to", label, input, list, statusLine);
  search();
  input.focus();
  await dialog.closed;
}

const optionId = (index: number): string => `go-to-${index}`;

function optionOf(destination: Destination, index: number, go: (to: Destination) => void): HTMLElement {
  const { label, owner } = destination;
  const ownerElement = element("span", { class: "soft" }, owner);
  const option = element(
    "li",
    { id: optionId(index), role: "option", "aria-selected": "false" },
    label,
    " ",
    ownerElement,
  );
  // Keeps the focus in the field.
  option.addEventListener("mousedown", (event) => event.preventDefault());
  option.addEventListener("click", () => go(destination));
  return option;
}
