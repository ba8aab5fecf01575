// Comma-separated values (RFC 4180), none of which is a formula to the program that opens them. Also for pages.
export type CsvCell = string | number | null | undefined;

/** Each line ends with one. What is nothing is empty. */
export function csvText(lines: readonly (readonly CsvCell[])[]): string {
  return lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function cell(value: CsvCell): string {
  const text = typeof value === "string" ? inert(value) : `${value ?? ""}`;
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const NUMBER = /^-?\d+(\.\d+)?$/u;

/** Whoever may name a model or an app would otherwise have a spreadsheet run it. */
function inert(text: string): string {
  return /^[=+\-@\t\r]/u.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}
