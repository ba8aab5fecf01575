// Generates the playground's form of options from the endpoint's schema, so that a new transcription field appears automatically [console.complete-forms].
import type { z } from "zod";
import { translationFields } from "../../contract/transcription/transcription-fields.ts";
import { textKind } from "../body/fields.ts";
import { escapeHtml, prose } from "./html-page.ts";

/** Fields that are not in the form, each with its reason. */
export const NOT_IN_FORM: Readonly<Record<string, string>> = {
  mode: "the page waits for the answer",
  stream: "the answer is shown when it is complete",
  dry_run: "has its own button",
  response_format: "captions and text are created in the page",
  data_policy: "a playground needs no guarantee, and the app's applies",
  custom_vocabulary: "the same as keyterms, with which it is merged",
};

/** Shown at once. All others are behind "More options". */
const FIRST = ["language", "diarization", "timestamps", "keyterms", "purpose"];
const LABELS: Readonly<Record<string, string>> = {
  keyterms: "Key terms",
  to_language: "Translate into",
  diarization: "Separate speakers",
};
/** Preset so that new users see words highlighted. All other fields are sent only when they are set. */
const PRESET: Readonly<Record<string, string>> = { timestamps: "both" };

export function optionsHtml(): string {
  const names = Object.keys(translationFields.shape).filter((name) => !Object.hasOwn(NOT_IN_FORM, name));
  return `${FIRST.map(fieldHtml).join("\n")}
<datalist id="purposes"></datalist>
<details><summary>More options</summary>
${names
  .filter((name) => !FIRST.includes(name))
  .map(fieldHtml)
  .join("\n")}
</details>`;
}

function fieldHtml(name: string): string {
  const shape: Readonly<Record<string, z.ZodOptional>> = translationFields.shape;
  const schema = shape[name]?.unwrap() as z.ZodType | undefined;
  if (schema === undefined) throw new Error(`transcription has no field ${name}`);
  const label = escapeHtml(LABELS[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`);
  const hint = `<small id="hint-${name}">${prose(schema.description ?? "")}</small>`;
  const about = `id="option-${name}" name="${name}" aria-describedby="hint-${name}"`;
  const kind = textKind(schema);
  const choices = choicesOf(schema);
  if (kind === "boolean")
    return `<div class="check"><input type="checkbox" ${about} value="true" data-kind="boolean"><label for="option-${name}">${label}</label>${hint}</div>`;
  if (kind === "boolean or list") {
    const boxes = choices.map(
      (choice) =>
        `<label><input type="checkbox" name="${name}" value="${choice}" data-kind="list"> <code>${choice}</code></label>`,
    );
    return `<fieldset class="field" aria-describedby="hint-${name}"><legend>${label}</legend>${boxes.join(" ")}${hint}</fieldset>`;
  }
  return `<div class="field"><label for="option-${name}">${label}</label>${control()}${hint}</div>`;

  function control(): string {
    if (kind === "list") return `<textarea ${about} rows="2" data-kind="list" placeholder="one per line"></textarea>`;
    if (kind === "number") return `<input type="number" ${about} min="1" data-kind="number">`;
    if (choices.length === 0)
      return `<input ${about} data-kind="text" autocomplete="off"${name === "purpose" ? ' list="purposes"' : ""}>`;
    const options = choices.map(
      (choice) => `<option value="${choice}"${choice === PRESET[name] ? " selected" : ""}>${choice}</option>`,
    );
    return `<select ${about} data-kind="text" data-preset="${PRESET[name] ?? ""}"><option value="">not asked</option>${options.join("")}</select>`;
  }
}

/** The choices of a field with enumerated values. */
function choicesOf(schema: z.ZodType): readonly string[] {
  const { def } = schema as z.ZodEnum | z.ZodArray | z.ZodUnion;
  if (def.type === "enum") return Object.keys(def.entries);
  if (def.type === "array") return choicesOf(def.element as z.ZodType);
  return def.type === "union" ? def.options.flatMap((option) => choicesOf(option as z.ZodType)) : [];
}
