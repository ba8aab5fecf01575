// The small ways of breaking a file that a mutation run tries, one at a time.
import { stripTypeScriptTypes } from "node:module";

/** One change each; `$1` keeps what surrounds it. */
const IN_CODE: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/===/g, "!=="],
  [/!==/g, "==="],
  [/&&/g, "||"],
  [/\|\|/g, "&&"],
  [/\?\?/g, "&&"],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/ < /g, " <= "],
  [/ > /g, " < "],
  [/ < /g, " > "],
  [/\btrue\b/g, "false"],
  [/\bfalse\b/g, "true"],
  [/\.some\(/g, ".every("],
  [/\.every\(/g, ".some("],
  [/([(\s])!([a-zA-Z(])/g, "$1$2"],
  [/\bthrow new (?=[A-Z])/g, "void new "],
  [/\bthrow /g, "void "],
  [/\breturn (?=[a-z])/g, "return !"],
  [/\bif \(/g, "if (false && "],
  [/\bif \(/g, "if (true || "],
  [/"[^"\n]*\/\d+"(?=[,\]])/g, '"255.255.255.255/32"'],
  [/([^\w'])(\d+)(?=[^\w."/])/g, "$1($2 + 1)"],
  [/\bawait /g, "void "],
  [/(\S) \? (?=\S)/g, "$1 && false ? "],
  [/(\S) \? (?=\S)/g, "$1 || true ? "],
  [/^(\s*)\? /g, "$1&& false ? "],
  [/^(\s*)\? /g, "$1|| true ? "],
  [/\.find\(/g, ".findLast("],
  [/\.filter\(/g, ".map("],
  // A call that is not made.
  [/^(\s+)(?:await |void )?[a-z#][\w.?#]*\(.*\);$/g, "$1;"],
];

/** Where every text counts: what is signed, and how. */
const IN_TEXT: typeof IN_CODE = [
  [/"sha256"/g, '"sha1"'],
  [/"hex"/g, '"base64"'],
  [/"base64"/g, '"hex"'],
  [/"base64url"/g, '"base64"'],
  [/"(utf8|latin1)"/g, '"ascii"'],
  [/\$\{[^{}]+\}/g, ""],
  // Neither the words of an error, nor the name of a type, nor what is the default anyhow.
  [/(?<!Error\(|\["|\[)"(?!utf8")[^"\n]+"/g, '""'],
  [/ \+ /g, " && "],
  [/ - /g, " + "],
  [/-(?=[a-z])/g, ""],
  [/\/i\.test/g, "/.test"],
  [/\.toLowerCase\(\)/g, ""],
];

/** In statements of SQL besides: conditions joined otherwise, compared otherwise, states and functions exchanged. */
const IN_SQL: typeof IN_CODE = [
  [/ and /g, " or "],
  [/ or /g, " and "],
  // Where it compares, not where it sets.
  [/(?<=\b(?:where|and|or|on|select [^]*|when) [\w.]+) = (?=\$|'|\w+\.)/g, " <> "],
  [/ <= /g, " >= "],
  [/ <= /g, " < "],
  [/ > /g, " < "],
  [/'reserved'/g, "'dispatched'"],
  [/'dispatched'/g, "'reserved'"],
  [/'dispatched'/g, "'completed'"],
  [/'completed'/g, "'burned'"],
  [/'burned'/g, "'completed'"],
  [/\bskip locked\b/g, ""],
  [/ \+ (?=\$|\()/g, " - "],
  [/\bdelete from (\w+) where/g, "delete from $1 where false and"],
];

export interface Mutant {
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** The whole file. */
  readonly text: string;
}

/** Of what runs alone: types are blanked, and imports, exports of names and comments left as they are. */
export function mutantsOf(source: string, besides: readonly Besides[]): readonly Mutant[] {
  const mutants: Mutant[] = [];
  const seen = new Set<string>();
  const lines = stripTypeScriptTypes(source).split("\n");
  const written = source.split("\n");
  let isComment = false;
  let isImport = false;
  for (const [index, line] of lines.entries()) {
    const bare = line.trim();
    isComment = isComment ? !bare.startsWith("*/") : bare.startsWith("/*") && !bare.includes("*/");
    isImport ||= /^(import |export \{)/.test(bare);
    const isRun = bare !== "" && !isComment && !isImport && !/^(\/\/|\/?\*)/.test(bare);
    if (isImport && bare.endsWith(";")) isImport = false;
    if (!isRun) continue;
    const code = line.replace(/\s\/\/ .*$/, "");
    for (const after of changesOf(code, besides)) {
      if (after === line || seen.has(`${index}:${after}`)) continue;
      seen.add(`${index}:${after}`);
      mutants.push({
        line: index + 1,
        before: (written[index] ?? "").trim(),
        after: after.trim(),
        text: lines.toSpliced(index, 1, after).join("\n"),
      });
    }
  }
  return mutants;
}

const BESIDES = { sql: IN_SQL, text: IN_TEXT };
/** What to break other than expressions. */
export type Besides = keyof typeof BESIDES;

function* changesOf(code: string, besides: readonly Besides[]): Generator<string> {
  for (const [pattern, replacement] of [...IN_CODE, ...besides.flatMap((kind) => BESIDES[kind])])
    for (const { index } of code.matchAll(pattern)) {
      // In its place: what a pattern looks ahead to comes after the match.
      const here = new RegExp(pattern.source, "y");
      here.lastIndex = index;
      yield code.replace(here, replacement);
    }
}
