// Maps `model` on the OpenAI-compatible endpoints to a purpose: `auto` or a purpose's label, never a provider's model [compatible.model-selects-purpose].
import { GatewayError } from "../../contract/errors.ts";
import { PURPOSE_LABEL } from "../../contract/transcription/transcription-fields.ts";

const PREFIX = "purpose/";

/** The requested purpose's label. Undefined for `auto`. */
export function purposeOfModel(model: string): string | undefined {
  if (model === "auto") return undefined;
  const label = model.startsWith(PREFIX) ? model.slice(PREFIX.length) : "";
  // The general rule for labels applies: any visible characters, even if no such purpose exists.
  if (PURPOSE_LABEL.safeParse(label).success) return label;
  throw new GatewayError("MODEL_NOT_SELECTABLE", {
    message:
      "model must be `auto` or `purpose/<label>`: the route of the API key selects the model. GET /v1/models lists the allowed values.",
    param: "model",
  });
}

export function modelOfPurpose(label: string): string {
  return `${PREFIX}${label}`;
}
