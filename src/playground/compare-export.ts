// Exports a comparison as a file; simulated results are marked in its name and first line. Pure.
import { joinWords } from "../lib/text/join-words.ts";
import { FACTS, type Heard, purposeWords, type Side, warningsOf } from "./compare-side.ts";
import { onlyIn, simulatedMark, summaryOf, WHAT_IT_IS } from "./compare-words.ts";
import { type Comparison, differencesIn, type Label, LABELS, type Row } from "./comparison.ts";
import type { Entries } from "./options.ts";
import { clock } from "./timeline.ts";

export interface HeardSide extends Side {
  readonly now: Heard;
}

export interface Compared {
  readonly audioName: string;
  /** Of both sides, except for the purpose. */
  readonly options: Entries;
  readonly sides: readonly [HeardSide, HeardSide];
  readonly comparison: Comparison;
}

export type ComparisonFormat = "txt" | "json";

/** `of`: the content of the file. */
export function fileName(audioName: string, of: string, isSimulated: boolean, format: ComparisonFormat): string {
  const name = audioName.replace(/\.[^.]*$/u, "");
  return `${name === "" ? "" : `${name}-`}${of}${isSimulated ? "-simulated" : ""}.${format}`;
}

export function comparisonName({ audioName, sides }: Compared, format: ComparisonFormat): string {
  return fileName(audioName, "comparison", simulatedMark(sides) !== null, format);
}

export function comparisonText(compared: Compared, format: ComparisonFormat): string {
  return format === "json" ? asJson(compared) : asText(compared);
}

interface DifferenceJson {
  readonly at_seconds: number | null;
  readonly A: string;
  readonly B: string;
}

function differencesJson(rows: readonly Row[]): readonly DifferenceJson[] {
  return differencesIn(rows).map(({ from, to }) => {
    const passage = rows.slice(from, to);
    const words = (label: Label) => joinWords(passage.flatMap((row) => row.words[label]?.text ?? []));
    return { at_seconds: passage[0]?.start ?? null, A: words("A"), B: words("B") };
  });
}

function asJson({ audioName, options, sides, comparison }: Compared): string {
  const { rows, counts, longer, rate, isLeast } = comparison;
  const mark = simulatedMark(sides);
  const comparisonJson = {
    ...(mark === null ? {} : { simulated: mark }),
    object: "comparison",
    audio: audioName,
    options: options.map(([name, value]) => ({ name, value })),
    words: {
      same: counts.same,
      other: counts.other,
      only_in_a: counts.A,
      only_in_b: counts.B,
      of_the_longer_side: longer,
      differing_share_of_the_longer_side: rate,
      are_upper_bounds: !isLeast,
    },
    differences: differencesJson(rows),
    sides: sides.map(({ label, purpose, now }) => ({
      label,
      purpose,
      transcript: now.transcript,
      record: typeof now.record === "string" ? null : now.record,
    })),
  };
  // The mark is the first line after the brace.
  return `${JSON.stringify(comparisonJson, null, 2).replace("{\n  ", "{ ")}\n`;
}

function asText({ audioName, options, sides, comparison }: Compared): string {
  const mark = simulatedMark(sides);
  const [one, other] = sides;
  const facts = Object.entries(FACTS).map(
    ([name, textOfFact]) => [name, ...sides.map(({ now }) => textOfFact(now))] as const,
  );
  const lines = [
    ...(mark === null ? [] : [mark]),
    `Comparison${audioName === "" ? "" : ` of ${audioName}`}`,
    ...(options.length === 0 ? [] : [`Options: ${options.map(([name, value]) => `${name}=${value}`).join(", ")}`]),
    ...sides.map(
      ({ label, purpose, now }) =>
        `${label}: ${purposeWords(purpose)}, request ${now.transcript.request_id ?? "unknown"}`,
    ),
    "",
    summaryOf(comparison),
    WHAT_IT_IS,
    "",
    ...facts.map(([name, a, b]) => `${name}: A ${a}; B ${b}`),
    ...warningsOf(one.now.transcript, other.now.transcript).map(
      ({ only, code, message }) => `Warning, ${onlyIn(only)}: ${code} ${message}`,
    ),
    "",
    ...differencesJson(comparison.rows).map(
      ({ at_seconds: at, A, B }) => `${at === null ? "" : `${clock(at)} `}A: ${A || "–"} | B: ${B || "–"}`,
    ),
    ...LABELS.flatMap((label) => [
      "",
      `${label}:`,
      joinWords(comparison.rows.flatMap(({ words }) => words[label]?.text ?? [])),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}
