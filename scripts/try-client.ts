// Tests `patchbay-gateway/client` from the packed tarball as an application in another directory uses it: the examples of docs/reference/client.md compile
// strictly with only the package's own types, a page's without those of Node.js, and those that answer at once are run.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TriedPackage {
  /** Where the tarball was installed. */
  readonly directory: string;
  /** Of a gateway that runs there. */
  readonly origin: string;
  readonly run: (command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) => void;
}

const ROOT = join(import.meta.dirname, "..");
const COMPILER_OPTIONS = {
  target: "es2022",
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  // The package's own type declarations are checked too.
  skipLibCheck: false,
  noEmit: true,
};
const PAGE = `import { Patchbay, type TranscriptionOptions } from "patchbay-gateway/client";
const options: TranscriptionOptions = { diarization: true, keyterms: ["Patchbay"] };
export async function textOf(file: File, apiKey: string): Promise<string> {
  const { content, segments } = await new Patchbay({ apiKey, baseUrl: location.origin }).transcribe(file, options);
  return segments.map(({ speaker, text }) => \`\${speaker ?? ""}: \${text}\`).join("\\n") || content;
}
`;

export function tryClient({ directory, origin, run }: TriedPackage): void {
  const installed = join(directory, "node_modules/patchbay-gateway");
  const folder = join(directory, "application");
  mkdirSync(folder);
  const page = readFileSync(join(installed, "docs/reference/client.md"), "utf8");
  const examples = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, code = ""]) => code);
  const files = examples.map((_code, index) => `example-${index + 1}.mts`);
  for (const [index, file] of files.entries()) writeFileSync(join(folder, file), examples[index] ?? "");
  writeFileSync(join(folder, "page.mts"), PAGE);
  const projects = {
    "node.json": { files, lib: ["es2022"], types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] },
    "page.json": { files: ["page.mts"], lib: ["es2022", "dom"], types: [] },
  };
  for (const [name, { files: included, ...options }] of Object.entries(projects)) {
    const project = { compilerOptions: { ...COMPILER_OPTIONS, ...options }, files: included };
    writeFileSync(join(folder, name), JSON.stringify(project));
    run(join(ROOT, "node_modules/.bin/tsc"), ["-p", name], folder, {});
  }
  copyFileSync(join(installed, "sandbox/samples/dialogue.mp3"), join(folder, "call.mp3"));
  const env = { PATCHBAY_URL: origin, PATCHBAY_API_KEY: readFileSync(join(directory, "data/cli-key"), "utf8").trim() };
  const runnable = files.filter((_file, index) => /\.(?:transcribe|chat|jobs)\b/u.test(examples[index] ?? ""));
  if (runnable.length < 5) throw new Error("docs/reference/client.md has lost its examples");
  for (const file of runnable) run(process.execPath, ["--no-warnings", file], folder, env);
  console.log(`tarball: ${files.length} examples of patchbay-gateway/client compiled, ${runnable.length} run`);
}
