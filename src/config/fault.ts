// A fault of the configuration, printed as `file:line:column path: message` [configuration.all-faults].

export interface Fault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `routes[0].targets[1].connection`. Empty for the file as a whole. */
  readonly path: string;
  /** Never contains a secret or an interpolated value. */
  readonly message: string;
  readonly suggestion?: string;
}

/** Keys and indexes from the root of the file. */
export type FaultPath = readonly (string | number)[];

export function formatFault(fault: Fault): string {
  const location = `${fault.file}:${fault.line}:${fault.column}`;
  const subject = fault.path === "" ? "" : ` ${fault.path}:`;
  const hint = fault.suggestion === undefined ? "" : ` (did you mean \`${fault.suggestion}\`?)`;
  return `${location}${subject} ${fault.message}${hint}`;
}

export function formatPath(path: FaultPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    const name = /^[A-Za-z0-9_./-]+$/.test(step) ? step : JSON.stringify(step);
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** Sorts by position, so that a reader can go through the file once. */
export function compareFaults(a: Fault, b: Fault): number {
  return a.line - b.line || a.column - b.column || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}
