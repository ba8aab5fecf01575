// A reporter of node:test beside the usual one: the files that took longest, for whoever makes the tests faster.
interface FileEnd {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly nesting?: number;
    readonly file?: string;
    readonly duration_ms?: number;
    readonly details?: { readonly type?: string | undefined; readonly duration_ms?: number };
  };
}

const SHOWN = 12;
const WORKER = "scripts/test-worker.ts";

export default async function* slowestFiles(source: AsyncIterable<FileEnd>): AsyncGenerator<string> {
  const files: { readonly file: string; readonly ms: number }[] = [];
  for await (const { type, data } of source) {
    // A file in a process of its own has a summary; one of several is a suite of that process.
    if (type === "test:summary" && data.file !== undefined && !data.file.endsWith(WORKER))
      files.push({ file: data.file, ms: data.duration_ms ?? 0 });
    if (type === "test:complete" && data.nesting === 0 && data.details?.type === "suite" && data.file?.endsWith(WORKER))
      files.push({ file: data.name ?? "", ms: data.details.duration_ms ?? 0 });
  }
  const total = files.reduce((sum, { ms }) => sum + ms, 0);
  yield `\nslowest of ${files.length} files, ${(total / 1000).toFixed(0)} s in all:\n`;
  for (const { file, ms } of files.toSorted((one, other) => other.ms - one.ms).slice(0, SHOWN))
    yield `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${file.replace(/^.*?\/test\//u, "test/")}\n`;
}
