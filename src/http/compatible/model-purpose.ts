// `model` on the OpenAI-compatible endpoints: `auto`, or a purpose; never a model [compatible.model-selects-purpose].
import { GatewayError } from "../../contract/errors.ts";
import { PURPOSE_LABEL } from "../../contract/transcription.ts";

const PREFIX = "purpose/";

/** The label asked for; undefined for `auto`. */
export function purposeOfModel(model: string): string | undefined {
  if (model === "auto") return undefined;
  const label = model.startsWith(PREFIX) ? model.slice(PREFIX.length) : "";
  // What a label may hold is as everywhere: anything visible is a label, if perhaps an unknown one.
  if (PURPOSE_LABEL.safeParse(label).success) return label;
  throw new GatewayError("MODEL_NOT_SELECTABLE", {
    message:
      "model must be `auto` or `purpose/<label>`: the route of the API key picks the model. GET /v1/models lists what can be sent.",
    param: "model",
  });
}

export function modelOfPurpose(label: string): string {
  return `${PREFIX}${label}`;
}
