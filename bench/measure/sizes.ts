// Parses sizes on the command line: 1MiB, 512KiB, 26214400.
const UNITS: Readonly<Record<string, number>> = { "": 1, KiB: 1_024, MiB: 1_048_576 };

export function parseBytes(text: string): number {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)(KiB|MiB)?$/u.exec(text) ?? [];
  const bytes = Math.round(Number(digits) * (UNITS[unit] ?? Number.NaN));
  if (!(bytes >= 4_096)) throw new Error(`A size is 4KiB or more, such as 1MiB; not ${text}.`);
  return bytes;
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(0)} MiB`;
}
