// Lists the preferences of a request that live protocols without parameters for them drop [routing.preference-dropped]. Pure.
import type { Preference } from "../../contract/features.ts";
import type { SpeechRequest } from "../provider.ts";

/** `detects`: the model can detect the language. `isSteered`: it accepts one. */
export function droppedLivePreferences(
  request: SpeechRequest,
  { detects, isSteered }: { readonly detects: boolean; readonly isSteered: boolean },
): readonly Preference[] {
  const dropped: Preference[] = [];
  if (request.language.kind === "detect" && !detects) dropped.push("detect_language");
  if (request.language.kind === "asked" && !isSteered) dropped.push("language");
  if (request.speakerCountHint !== null) dropped.push("speaker_count_hint");
  if (request.smartFormatting !== null) dropped.push("smart_formatting");
  if (request.prompt !== null) dropped.push("prompt");
  return dropped;
}
