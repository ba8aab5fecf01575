// Converts a language tag to the name that OpenAI's clients expect: `english` for `en` and `en-US`. Pure [compatible.audio-verbose].
import { primarySubtag } from "../../lib/text/primary-subtag.ts";

/** Languages for which OpenAI's models use uncommon names. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  bn: "bengali",
  mi: "maori",
  my: "myanmar",
  nn: "nynorsk",
  tl: "tagalog",
};

/** Ignores script and region, which those names do not have. */
export function languageName(tag: string | null): string {
  if (tag === null) return "";
  const language = primarySubtag(tag);
  try {
    return (
      OTHER_NAMES[language] ?? new Intl.DisplayNames("en", { type: "language" }).of(language)?.toLowerCase() ?? tag
    );
  } catch {
    // An unknown language must not fail a transcript that is already charged.
    return tag;
  }
}
