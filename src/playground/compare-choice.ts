// Chooses the purpose of a comparison's other side: one of the key's purposes, none, or the one in the link.
import { byId, element } from "../page/element.ts";

const NOTHING = "";
const DEFAULT = "default";
const OF_PURPOSE = "purpose:";

/** `first`: from the page's address; empty: no purpose, null: no choice. Returns a function for the current choice in the same form. */
export function choosePurpose(first: string | null, changed: (purpose: string | null) => void): () => string | null {
  const select = byId("compare-with", HTMLSelectElement);
  const known = byId("purposes", HTMLDataListElement);
  const currentPurpose = (): string | null => {
    if (select.value === NOTHING) return null;
    return select.value === DEFAULT ? "" : select.value.slice(OF_PURPOSE.length);
  };
  const offer = (purpose: string | null): void => {
    const purposes = [...known.querySelectorAll("option")];
    const options = purposes.map(({ value, text }) =>
      element("option", { value: OF_PURPOSE + value }, text === "" ? value : `${value}: ${text}`),
    );
    if (purpose !== null && purpose !== "" && !purposes.some(({ value }) => value === purpose))
      options.push(element("option", { value: OF_PURPOSE + purpose }, purpose));
    select.replaceChildren(
      element("option", { value: NOTHING }, "Choose…"),
      element("option", { value: DEFAULT }, "No purpose: the key's default"),
      ...options,
    );
    select.value = purpose === null ? NOTHING : purpose === "" ? DEFAULT : OF_PURPOSE + purpose;
  };
  offer(first);
  // The list belongs to the key, and changes when it is loaded or the key changes.
  new MutationObserver(() => offer(currentPurpose())).observe(known, { childList: true });
  select.addEventListener("change", () => changed(currentPurpose()));
  return currentPurpose;
}
