// Sends usage as JSON or as CSV for spreadsheets, depending on `Accept` [usage.csv].
import type { UsageTable } from "../../contract/usage.ts";
import { usageCsv } from "../../requests/usage.ts";
import { chooseMediaType } from "./choose-format.ts";
import type { Reply } from "../server/endpoint.ts";

const JSON_TYPE = "application/json";
const CSV_TYPE = "text/csv";

export async function usageReply(accept: string | undefined, read: () => Promise<UsageTable>): Promise<Reply> {
  const type = chooseMediaType(accept, [JSON_TYPE, CSV_TYPE]);
  const table = await read();
  if (type === JSON_TYPE) return { status: 200, body: { json: table } };
  const name = `usage-${table.from.slice(0, 10)}-${table.to.slice(0, 10)}.csv`;
  return {
    status: 200,
    headers: { "content-disposition": `attachment; filename="${name}"` },
    body: { text: usageCsv(table), contentType: "text/csv; charset=utf-8; header=present" },
  };
}
