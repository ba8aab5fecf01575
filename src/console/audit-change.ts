// Shows the changes of an audit entry field by field, on demand.
import type { AuditEntryView } from "../contract/admin/audit.ts";
import { element } from "../page/element.ts";
import { fewOf } from "./words.ts";

type Change = Pick<AuditEntryView, "before" | "after">;
type Side = AuditEntryView["before"];
type Fields = ReadonlyMap<string, string>;

export function changeView({ before, after }: Change): HTMLElement {
  // For created or removed objects, one side has all fields, and unset fields are skipped.
  const isWhole = before === null || after === null;
  const [oldFields, newFields] = [fieldsOf(before, isWhole), fieldsOf(after, isWhole)];
  const names = [...new Set([...oldFields.keys(), ...newFields.keys()])].filter(
    (name) => oldFields.get(name) !== newFields.get(name),
  );
  if (names.length === 0) return element("span", { class: "soft" }, isWhole ? verbOf(before) : "not recorded");
  const sides = [
    ...(before === null ? [] : [{ head: "From", of: oldFields }]),
    ...(after === null ? [] : [{ head: "To", of: newFields }]),
  ];
  const heads = ["Field", ...sides.map(({ head }) => head)].map((head) => element("th", { scope: "col" }, head));
  const rows = names.map((name) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...sides.map((side) => cellOf(side.of.get(name)))),
  );
  const table = element("table", { class: "change" }, element("thead", {}, element("tr", {}, ...heads)));
  table.append(element("tbody", {}, ...rows));
  return element("details", {}, element("summary", {}, isWhole ? verbOf(before) : fewOf(names)), table);
}

const verbOf = (before: Side): string => (before === null ? "made" : "removed");

/** Flattens nested fields to `quota.concurrent`; a list is one field. */
function fieldsOf(side: Side, isSetOnly: boolean, above = ""): Fields {
  return new Map(
    Object.entries(side ?? {}).flatMap(([name, field]): [string, string][] => {
      if (typeof field === "object" && field !== null && !Array.isArray(field))
        return [...fieldsOf(field as Readonly<Record<string, unknown>>, isSetOnly, `${above}${name}.`)];
      return isSetOnly && isUnset(field) ? [] : [[above + name, textOf(field)]];
    }),
  );
}

const isUnset = (field: unknown): boolean => field === null || (Array.isArray(field) && field.length === 0);

function textOf(field: unknown): string {
  if (Array.isArray(field) && field.length > 0 && field.every((each) => typeof each === "string"))
    return field.join(", ");
  return typeof field === "string" ? field : JSON.stringify(field);
}

function cellOf(text: string | undefined): HTMLElement {
  return element("td", {}, text === undefined ? "–" : element("code", {}, text));
}
