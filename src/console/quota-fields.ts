// The quota of an app or a key, as form fields and as text.
import type { KeyView } from "../contract/admin/keys.ts";
import type { Field } from "./form-view.ts";

type Quota = KeyView["quota"];

const FIGURES: readonly (readonly [name: keyof Quota, label: string, words: string])[] = [
  ["requests_per_minute", "Requests per minute", "requests per minute"],
  ["concurrent", "Concurrent requests", "concurrent requests"],
  ["audio_seconds_per_hour", "Seconds of audio per hour", "seconds of audio per hour"],
  ["tokens_per_minute", "Chat tokens per minute", "chat tokens per minute"],
];

export function quotaFields(quota: Quota | null, hint: string): readonly Field[] {
  return FIGURES.map(([name, label], at) => {
    const figure = quota?.[name] ?? null;
    return {
      kind: "number",
      name: `quota.${name}`,
      label,
      ...(at === 0 ? { hint } : {}),
      ...(figure === null ? {} : { value: `${figure}` }),
    };
  });
}

export function quotaText(quota: Quota): string {
  const words = FIGURES.flatMap(([name, , what]) => {
    const figure = quota[name];
    return figure === null ? [] : [`${figure} ${what}`];
  });
  return words.length === 0 ? "none" : words.join(", ");
}
