// Describes the differences between two versions of a route in sentences.
import { element } from "../page/element.ts";
import type { Change } from "./route-diff.ts";
import { mark } from "./words.ts";

export function changesView(changes: readonly Change[]): HTMLElement {
  if (changes.length === 0) return element("p", { class: "empty" }, "No differences.");
  return element("ul", { class: "changes" }, ...changes.map((change) => element("li", {}, ...wordsOf(change))));
}

const TONES = { added: "good", removed: "bad", moved: "warn", changed: "warn" } as const;

function wordsOf(change: Change): readonly (Node | string)[] {
  const { kind } = change;
  return [mark(TONES[kind], kind), " ", ...sentenceOf(change)];
}

const code = (text: string): HTMLElement => element("code", {}, text);

function sentenceOf(change: Change): readonly (Node | string)[] {
  if (change.kind === "moved")
    return ["target ", code(change.name), ` from position ${change.from} to position ${change.to}`];
  if (change.kind === "changed") {
    const owner = change.part === "route" ? [] : [`${change.part} `, code(change.name), ", "];
    return [...owner, code(change.field), ": ", valueView(change.from), " → ", valueView(change.to)];
  }
  if (change.part === "purpose") return ["purpose ", code(change.name)];
  const where = change.kind === "added" ? `at position ${change.position}` : `from position ${change.position}`;
  return ["target ", code(change.name), ` ${where}`];
}

/** A word if there is one, else JSON. */
function valueView(value: unknown): Node | string {
  if (value === undefined || value === null) return "not set";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.length === 0) return "none";
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return code(value.join(", "));
  return code(typeof value === "string" && value !== "" ? value : JSON.stringify(value));
}
