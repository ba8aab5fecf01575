// The purpose of a comparison's other side: one of the key's, none, or the one that a link names.
import { byId, element } from "../page/element.ts";

const NOTHING = "";
const DEFAULT = "default";
const OF_PURPOSE = "purpose:";

/** `first`: as the page's address has it; empty: no purpose is named, null: nothing is chosen. Answers the same of what is chosen now. */
export function choosePurpose(first: string | null, changed: (purpose: string | null) => void): () => string | null {
  const select = byId("compare-with", HTMLSelectElement);
  const known = byId("purposes", HTMLDataListElement);
  const chosen = (): string | null => {
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
  // The list is the key's, which may come later, or be another.
  new MutationObserver(() => offer(chosen())).observe(known, { childList: true });
  select.addEventListener("change", () => changed(chosen()));
  return chosen;
}
