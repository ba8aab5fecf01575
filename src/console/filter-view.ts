// The filters of a list. They are part of the address, so that a link shares them.
import { element } from "../page/element.ts";
import type { Filter } from "./filter.ts";
import type { Choice } from "./form-view.ts";
import type { Visit } from "./visit.ts";

export type { Filter } from "./filter.ts";

const TYPES = { text: "search", date: "date", check: "checkbox" } as const;

interface FilterWords {
  readonly submit?: string;
  readonly label?: string;
}

/** A choice applies at once, a text on Enter. */
export function filterView(
  visit: Visit,
  filters: readonly Filter[],
  { submit = "Filter", label = "Filters" }: FilterWords = {},
): HTMLFormElement {
  const form = element("form", { class: "filters", role: "search", "aria-label": label });
  for (const filter of filters) {
    const id = `filter-${filter.name}`;
    const control =
      filter.kind === "select"
        ? selectOf(filter.choices)
        : element("input", { type: TYPES[filter.kind], autocomplete: "off" });
    control.id = id;
    control.name = filter.name;
    if (filter.kind === "text" && filter.placeholder !== undefined)
      control.setAttribute("placeholder", filter.placeholder);
    const requestedValue = visit.query.get(filter.name) ?? "";
    if (filter.kind === "check" && control instanceof HTMLInputElement) {
      control.value = "yes";
      control.checked = requestedValue !== "";
      form.append(element("label", { for: id }, control, filter.label));
      continue;
    }
    control.value = requestedValue;
    // The address's value is shown even if it is no longer a choice, for example a removed app.
    if (control.value !== requestedValue && control instanceof HTMLSelectElement) {
      control.append(element("option", { value: requestedValue }, requestedValue));
      control.value = requestedValue;
    }
    form.append(element("label", { for: id }, filter.label, control), ...suggestionsOf(filter, control));
  }
  form.append(element("button", {}, submit));
  const apply = (): void => {
    const query = new URLSearchParams(visit.query);
    for (const { name } of filters) {
      const control = form.elements.namedItem(name);
      if (control instanceof HTMLInputElement && control.type === "checkbox")
        query.set(name, control.checked ? control.value : "");
      else if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement)
        query.set(name, control.value.trim());
    }
    visit.filter(query);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  form.addEventListener("change", (event) => {
    const { target } = event;
    const isTicked = target instanceof HTMLInputElement && target.type === "checkbox";
    if (isTicked || target instanceof HTMLSelectElement) apply();
  });
  return form;
}

/** The values of these filters in the address, as the list's query. */
export function filtersIn(visit: Visit, filters: readonly Filter[]): string {
  const query = new URLSearchParams();
  for (const { name } of filters) {
    const value = visit.query.get(name) ?? "";
    if (value !== "") query.set(name, value);
  }
  return query.toString();
}

/** The same, with `from` and `to` converted from days to the start and the end as timestamps. */
export function momentsIn(visit: Visit, filters: readonly Filter[]): string {
  const query = new URLSearchParams(filtersIn(visit, filters));
  const moments = [
    ["from", momentOf(query.get("from"))],
    ["to", momentOf(query.get("to"), 1)],
  ] as const;
  for (const [name, moment] of moments) {
    query.delete(name);
    if (moment !== null) query.set(name, moment);
  }
  return query.toString();
}

export const DAYS: readonly Filter[] = [
  { name: "from", label: "From", kind: "date" },
  { name: "to", label: "Until", kind: "date" },
];

/** Start of a filter's day, or of the next one, in local time. Null: invalid. */
function momentOf(day: string | null, daysLater: 0 | 1 = 0): string | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/u.exec(day ?? "") ?? [];
  const moment = new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}

function suggestionsOf(filter: Filter, control: HTMLElement): readonly Node[] {
  if (filter.kind !== "text" || filter.suggestions === undefined || filter.suggestions.length === 0) return [];
  const id = `${control.id}-list`;
  control.setAttribute("list", id);
  return [element("datalist", { id }, ...filter.suggestions.map((value) => element("option", { value })))];
}

function selectOf(choices: readonly Choice[]): HTMLSelectElement {
  const select = element("select", {});
  select.append(...choices.map(([value, label]) => element("option", { value }, label)));
  return select;
}
