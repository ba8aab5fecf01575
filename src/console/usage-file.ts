// Exports usage for bookkeeping: the shown rows exactly as in the API's CSV, followed by the names of ids.
import type { UsageTable } from "../contract/usage.ts";
import { csvText } from "../lib/text/csv.ts";
import type { UsageNames } from "./usage-names.ts";

/** The columns are those of the rows. */
export function usageFile({ data }: Pick<UsageTable, "data">, names: UsageNames): string {
  const columns = Object.keys(data[0] ?? {}) as readonly (keyof UsageTable["data"][number])[];
  const idColumns = (["workspace", "app", "key"] as const).filter(
    (group) => columns.includes(group) && names[group].known.length > 0,
  );
  const lines = data.map((row) => [
    ...columns.map((column) => row[column]),
    ...idColumns.map((group) => names[group].of(row[group] ?? "")),
  ]);
  return csvText([[...columns, ...idColumns.map((group) => `${group}_name`)], ...lines]);
}
