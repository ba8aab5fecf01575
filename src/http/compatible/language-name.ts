// The language of a transcript as OpenAI's clients read it: `english` for `en` and `en-US` [compatible.audio-verbose]. Pure.
import { primarySubtag } from "../../lib/text/primary-subtag.ts";

/** What OpenAI's models call otherwise than everybody else. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  bn: "bengali",
  mi: "maori",
  my: "myanmar",
  nn: "nynorsk",
  tl: "tagalog",
};

/** Without its script and region, which those names have none for. */
export function languageName(tag: string | null): string {
  if (tag === null) return "";
  const language = primarySubtag(tag);
  try {
    return (
      OTHER_NAMES[language] ?? new Intl.DisplayNames("en", { type: "language" }).of(language)?.toLowerCase() ?? tag
    );
  } catch {
    // The transcript is made and paid for, whatever its provider calls the language.
    return tag;
  }
}
