// A reporter of node:test beside the usual one: the files that took longest, for whoever makes the tests faster.
interface FileEnd {
  readonly type: string;
  readonly data: { readonly file?: string; readonly duration_ms?: number };
}

const SHOWN = 12;

export default async function* slowestFiles(source: AsyncIterable<FileEnd>): AsyncGenerator<string> {
  const files: { readonly file: string; readonly ms: number }[] = [];
  for await (const { type, data } of source) {
    if (type === "test:summary" && data.file !== undefined && data.duration_ms !== undefined)
      files.push({ file: data.file, ms: data.duration_ms });
  }
  const total = files.reduce((sum, { ms }) => sum + ms, 0);
  yield `\nslowest of ${files.length} files, ${(total / 1000).toFixed(0)} s in all:\n`;
  for (const { file, ms } of files.toSorted((one, other) => other.ms - one.ms).slice(0, SHOWN))
    yield `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${file.replace(/^.*?\/test\//u, "test/")}\n`;
}
