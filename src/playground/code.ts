// Generates code for exactly this request, with the key read from the environment. Pure.
import { type Entries, fieldsOf, type OptionField, taskOf } from "./options.ts";

export type CodeAudio =
  | { readonly kind: "sample" | "file"; readonly name: string }
  | { readonly kind: "url"; readonly url: string };
export interface CodeRequest {
  readonly origin: string;
  /** How the command line is called in this installation. */
  readonly patchbay: "patchbay" | "npm run patchbay --";
  readonly audio: CodeAudio;
  readonly entries: Entries;
  readonly fields: readonly OptionField[];
}

export const LANGUAGES = ["curl", "CLI", "TypeScript"] as const;
export type CodeLanguage = (typeof LANGUAGES)[number];

export function codeOf(language: CodeLanguage, request: CodeRequest): string {
  if (language === "curl") return asCurl(request);
  return language === "CLI" ? asCommand(request) : asTypeScript(request);
}

function asCurl({ origin, audio, entries }: CodeRequest): string {
  const fetched =
    audio.kind === "sample" ? `curl -s ${quoted(`${origin}/playground/sample/${audio.name}`)} -o ${audio.name}\n` : "";
  const lines = [
    `curl -s ${quoted(`${origin}/v1/${taskOf(entries)}`)}`,
    '-H "Authorization: Bearer $PATCHBAY_API_KEY"',
    audio.kind === "url" ? textPart("audio.url", audio.url) : `-F ${quoted(`file=@${fileInForm(audio.name)}`)}`,
    ...entries.map(([name, value]) => textPart(name, value)),
  ];
  return fetched + lines.join(" \\\n  ");
}

/** `-F` would read a file after `@` or `<`, and parse a type after `;`. */
function textPart(name: string, value: string): string {
  return `${/^[\w.:/-]+$/u.test(value) ? "-F" : "--form-string"} ${quoted(`${name}=${value}`)}`;
}

function fileInForm(name: string): string {
  return /^[\w.-]+$/u.test(name) ? name : `"${name.replaceAll(/["\\]/gu, "\\$&")}"`;
}

function asCommand({ origin, patchbay, audio, entries, fields }: CodeRequest): string {
  const argument = audio.kind === "sample" ? "--sample" : quoted(audio.kind === "url" ? audio.url : `./${audio.name}`);
  const groups = entries.filter(([name]) => name === "redaction").map(([, value]) => value);
  const options = entries.flatMap(([name, value]) => {
    if (name === "redaction") return value === groups[0] ? [`--redaction ${groups.join(",")}`] : [];
    const flag = `--${name === "keyterms" ? "keyterm" : name.replaceAll("_", "-")}`;
    const isFlag = fields.some((field) => field.name === name && field.kind === "boolean");
    return [isFlag ? flag : `${flag} ${quoted(value)}`];
  });
  const command = taskOf(entries) === "translation" ? "translate" : "transcribe";
  return [`${patchbay} ${command} ${argument}`, ...options, `--url ${quoted(origin)}`].join(" \\\n  ");
}

function asTypeScript({ origin, audio, entries, fields }: CodeRequest): string {
  const options = JSON.stringify(fieldsOf(entries, fields), null, 2).replaceAll(/^( *)"(\w+)":/gmu, "$1$2:");
  const call = taskOf(entries) === "translation" ? "translate" : "transcribe";
  const isDryRun = entries.some(([name]) => name === "dry_run");
  return `import { Patchbay } from "patchbay-gateway/client";

// The key is read from PATCHBAY_API_KEY.
const patchbay = new Patchbay({ baseUrl: ${JSON.stringify(origin)} });
const audio = ${sourceOf(origin, audio)};
const answer = await patchbay.${call}(audio${options === "{}" ? "" : `, ${options}`});
console.log(answer${isDryRun ? "" : ".content"});`;
}

function sourceOf(origin: string, audio: CodeAudio): string {
  if (audio.kind === "url") return `{ url: ${JSON.stringify(audio.url)} }`;
  if (audio.kind === "file") return `{ path: ${JSON.stringify(audio.name)} }`;
  return `await (await fetch(${JSON.stringify(`${origin}/playground/sample/${audio.name}`)})).blob()`;
}

/** Quotes for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.:/@%+=-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
