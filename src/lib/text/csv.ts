// Writes CSV (RFC 4180) without formulas that a spreadsheet would run. Browsers load this module too.
export type CsvCell = string | number | null | undefined;

/** Every line ends with CRLF. Null is an empty cell. */
export function csvText(lines: readonly (readonly CsvCell[])[]): string {
  return lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function cell(value: CsvCell): string {
  const text = typeof value === "string" ? inert(value) : `${value ?? ""}`;
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const NUMBER = /^-?\d+(\.\d+)?$/u;

/** Names of models and apps come from tenants, and could otherwise be formulas. */
function inert(text: string): string {
  return /^[=+\-@\t\r]/u.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}
