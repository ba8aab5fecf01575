// Figures, times and states as a person reads them.
import { element } from "../page/element.ts";

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** In the reader's own zone; exactly, in UTC, when pointed at. */
export function timeView(iso: string | null): Node {
  if (iso === null) return document.createTextNode("–");
  return element("time", { datetime: iso, title: iso }, DAY.format(new Date(iso)));
}

const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** In which zone times are told: the reader's own. */
export function zoneText(): string {
  const { timeZone } = DAY.resolvedOptions();
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" }).formatToParts();
  const offset = parts.find(({ type }) => type === "timeZoneName")?.value.replace("GMT", "UTC") ?? "";
  return timeZone === "UTC" ? "Times are UTC." : `Times are of ${timeZone} (${offset}), unless UTC is said.`;
}

/** As `timeView`, where seconds are noise. */
export function momentView(iso: string): Node {
  return element("time", { datetime: iso, title: iso }, MINUTE.format(new Date(iso)));
}

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** `3 h 5 min`, `1 min 15 s`, `12.4 s`, `85 ms`. */
export function secondsText(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const words: string[] = [];
  let left = Math.round(seconds);
  for (const [size, unit] of UNITS) {
    if (left >= size && words.length < 2) words.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return words.join(" ");
}

/** Audio as it is paid for: `51 h 15 min`, never days; `1 min 4 s` short of an hour. */
export function hoursText(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const [size, unit, smaller] = seconds < 3_600 - 0.5 ? ([60, "min", "s"] as const) : ([3_600, "h", "min"] as const);
  const parts = Math.round(seconds / (size / 60));
  const rest = parts % 60;
  return `${COUNT.format(Math.floor(parts / 60))} ${unit}${rest === 0 ? "" : ` ${rest} ${smaller}`}`;
}

/** As the page's language has them: beside exact money a point must never be a thousand here and a fraction there. */
const COUNT = new Intl.NumberFormat("en");

export const countText = (count: number): string => COUNT.format(count);

/** Rounded down: 100 % is all of it. */
export const percentText = (part: number): string => `${Math.floor(part * 100 + 1e-9)}\u{a0}%`;

/** Exact as the gateway says it, with two places at least. */
export function usdText(usd: string): string {
  const [whole = "0", rest = ""] = usd.split(".");
  return whole.startsWith("-") ? `−$${whole.slice(1)}.${rest.padEnd(2, "0")}` : `$${whole}.${rest.padEnd(2, "0")}`;
}

export type Tone = "good" | "warn" | "bad" | "busy" | "soft";
const SHAPES: Readonly<Record<Tone, string>> = { good: "●", warn: "▲", bad: "✕", busy: "◐", soft: "○" };

/** A state: by a word and a shape, so that colour is never all that tells it. */
export function mark(tone: Tone, text: string): HTMLElement {
  return element(
    "span",
    { class: `mark ${tone}` },
    element("span", { "aria-hidden": "true" }, `${SHAPES[tone]} `),
    text,
  );
}

/** What nobody set, or what does not apply. */
export const orNone = (text: string | number | null | undefined): string =>
  text === null || text === undefined || text === "" ? "–" : `${text}`;

/** Long codes may break at underscores where there is little room. */
export const breakable = (code: string): readonly (Node | string)[] =>
  code.split(/(?<=_)/u).flatMap((word) => [word, element("wbr")]);

/** Term beside value. */
export function factList(facts: readonly (readonly [term: string, value: Node | string])[]): HTMLElement {
  return element(
    "dl",
    { class: "facts-list" },
    ...facts.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]),
  );
}

export function link(href: string, ...text: readonly (Node | string)[]): HTMLAnchorElement {
  return element("a", { href }, ...text);
}

/** For the next step: it looks as a button does. */
export const buttonLink = (href: string, text: string): HTMLElement => element("a", { href, class: "button" }, text);

const FEW = 3;

/** `a, b, c and 2 more`. */
export function fewOf(names: readonly string[]): string {
  const more = names.length - FEW;
  return names.slice(0, FEW).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** A part of a screen, under its heading. */
export function part(title: string, ...children: readonly (Node | string)[]): HTMLElement {
  const section = element("section", {}, element("h2", {}, title), ...children);
  section.setAttribute("aria-label", title);
  return section;
}
