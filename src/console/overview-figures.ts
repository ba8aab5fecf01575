// Calls, audio and money of today and of the last 30 days, by billing class, never added up.
import type { WorkspaceUsage } from "../contract/usage.ts";
import { element, table } from "../page/element.ts";
import { CLASS_WORDS, listText } from "./usage-figures.ts";
import type { Visit } from "./visit.ts";
import { countText, hoursText, link, usdText } from "./words.ts";

type Amounts = WorkspaceUsage["totals"][number];

const HEADS = ["Period", "Billing", "Calls", "Failed", "Audio", "Chat tokens", "Charged", "At list prices"];

export function overviewFigures(visit: Visit, usage: WorkspaceUsage): readonly Node[] {
  const { totals, data, to } = usage;
  const more = element("p", {}, link(visit.link("usage"), "Usage details"));
  if (totals.length === 0) return [element("p", {}, "No provider or sandbox calls in the last 30 days."), more];
  // `to` is the end of the last day, which is today.
  const today = new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
  const rows = data.filter(({ day }) => day === today);
  return [
    table("Calls to providers. One request may make several. Days are in UTC.", HEADS, [
      ...(rows.length === 0 ? [["Today", ...NOTHING]] : rows.map((row) => rowOf("Today", row))),
      ...totals.map((row) => rowOf("30 days", row)),
    ]),
    more,
  ];
}

const NOTHING = ["–", "0", "0", "–", "–", "–", "–"];

function rowOf(when: string, amounts: Amounts): readonly string[] {
  const { billing_class: billing, attempts, failed, audio_seconds: audio } = amounts;
  const tokens = amounts.input_tokens + amounts.output_tokens;
  const isFree = billing === "simulated";
  return [
    when,
    CLASS_WORDS[billing][0],
    countText(attempts),
    countText(failed),
    audio === 0 ? "–" : hoursText(audio),
    tokens === 0 ? "–" : countText(tokens),
    isFree ? "–" : usdText(amounts.charge_usd),
    isFree ? "–" : listText(amounts),
  ];
}
