// Formats numbers, times and states for people.
import { element } from "../page/element.ts";

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** In local time; the exact time in UTC as a tooltip. */
export function timeView(iso: string | null): Node {
  if (iso === null) return document.createTextNode("–");
  return element("time", { datetime: iso, title: iso }, DAY.format(new Date(iso)));
}

const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Name of the local time zone. */
export function zoneText(): string {
  const { timeZone } = DAY.resolvedOptions();
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" }).formatToParts();
  const offset = parts.find(({ type }) => type === "timeZoneName")?.value.replace("GMT", "UTC") ?? "";
  return timeZone === "UTC" ? "Times in UTC." : `Times in ${timeZone} (${offset}) unless marked UTC.`;
}

/** Like `timeView`, without seconds. */
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
  let remaining = Math.round(seconds);
  for (const [size, unit] of UNITS) {
    if (remaining >= size && words.length < 2) words.push(`${Math.floor(remaining / size)} ${unit}`);
    remaining %= size;
  }
  return words.join(" ");
}

/** Audio as it is billed: `51 h 15 min`, never days; `1 min 4 s` below an hour. */
export function hoursText(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const [size, unit, smaller] = seconds < 3_600 - 0.5 ? ([60, "min", "s"] as const) : ([3_600, "h", "min"] as const);
  const parts = Math.round(seconds / (size / 60));
  const rest = parts % 60;
  return `${COUNT.format(Math.floor(parts / 60))} ${unit}${rest === 0 ? "" : ` ${rest} ${smaller}`}`;
}

/** In the page's language: next to exact money, a point must always be the decimal separator. */
const COUNT = new Intl.NumberFormat("en");

export const countText = (count: number): string => COUNT.format(count);

/** Rounded down: 100 % means all of it. */
export const percentText = (part: number): string => `${Math.floor(part * 100 + 1e-9)}\u{a0}%`;

/** Exactly as the gateway returns it, with at least two decimal places. */
export function usdText(usd: string): string {
  const [whole = "0", rest = ""] = usd.split(".");
  return whole.startsWith("-") ? `−$${whole.slice(1)}.${rest.padEnd(2, "0")}` : `$${whole}.${rest.padEnd(2, "0")}`;
}

export type Tone = "good" | "warn" | "bad" | "busy" | "soft";
const SHAPES: Readonly<Record<Tone, string>> = { good: "●", warn: "▲", bad: "✕", busy: "◐", soft: "○" };

/** A state as a word and a shape, so that colour is never the only sign. */
export function mark(tone: Tone, text: string): HTMLElement {
  return element(
    "span",
    { class: `mark ${tone}` },
    element("span", { "aria-hidden": "true" }, `${SHAPES[tone]} `),
    text,
  );
}

/** Unset or not applicable. */
export const orNone = (text: string | number | null | undefined): string =>
  text === null || text === undefined || text === "" ? "–" : `${text}`;

/** Long codes may break at underscores. */
export const breakable = (code: string): readonly (Node | string)[] =>
  code.split(/(?<=_)/u).flatMap((word) => [word, element("wbr")]);

/** Terms next to their values. */
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

/** A link to the next step, styled as a button. */
export const buttonLink = (href: string, text: string): HTMLElement => element("a", { href, class: "button" }, text);

const FEW = 3;

/** `a, b, c and 2 more`. */
export function fewOf(names: readonly string[]): string {
  const more = names.length - FEW;
  return names.slice(0, FEW).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** A section with a heading. */
export function part(title: string, ...children: readonly (Node | string)[]): HTMLElement {
  const section = element("section", {}, element("h2", {}, title), ...children);
  section.setAttribute("aria-label", title);
  return section;
}
