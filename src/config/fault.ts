// One fault of the configuration, and how it is printed: `file:line:column path: message` [configuration.all-faults].

export interface Fault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `routes[0].targets[1].connection`; empty for the file as a whole. */
  readonly path: string;
  /** Never holds a secret, nor any value that came by interpolation. */
  readonly message: string;
  readonly suggestion?: string;
}

/** Keys and indexes from the root of the file. */
export type FaultPath = readonly (string | number)[];

export function formatFault(fault: Fault): string {
  const place = `${fault.file}:${fault.line}:${fault.column}`;
  const subject = fault.path === "" ? "" : ` ${fault.path}:`;
  const hint = fault.suggestion === undefined ? "" : ` (did you mean \`${fault.suggestion}\`?)`;
  return `${place}${subject} ${fault.message}${hint}`;
}

export function formatPath(path: FaultPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    const name = /^[A-Za-z0-9_./-]+$/.test(step) ? step : JSON.stringify(step);
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** In the order of the file, so that a reader can walk through it once. */
export function compareFaults(a: Fault, b: Fault): number {
  return a.line - b.line || a.column - b.column || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}
