// Usage as a file for bookkeeping: the rows that are shown, digit for digit, as the API's own CSV has them, and after them the names
// behind ids.
import type { UsageTable } from "../contract/usage.ts";
import { csvText } from "../lib/text/csv.ts";
import type { UsageNames } from "./usage-names.ts";

/** The columns are those of the rows. */
export function usageFile({ data }: Pick<UsageTable, "data">, names: UsageNames): string {
  const columns = Object.keys(data[0] ?? {}) as readonly (keyof UsageTable["data"][number])[];
  const named = (["workspace", "app", "key"] as const).filter(
    (group) => columns.includes(group) && names[group].known.length > 0,
  );
  const lines = data.map((row) => [
    ...columns.map((column) => row[column]),
    ...named.map((group) => names[group].of(row[group] ?? "")),
  ]);
  return csvText([[...columns, ...named.map((group) => `${group}_name`)], ...lines]);
}
