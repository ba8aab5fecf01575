// The field that a form's name means: one of the endpoint's, a dotted member of `audio`, or a member of an object in brackets, as OpenAI's
// client writes `chunking_strategy[type]` [request-body.form-members].
import type { z } from "zod";
import { audioFields } from "../../contract/transcription.ts";
import type { FieldSchema } from "./fields.ts";

export interface FormField {
  /** What it is a member of. */
  readonly owner: string | null;
  readonly key: string;
  readonly type: z.core.$ZodType;
}

const BRACKETED = /^(?<owner>[a-z_]+)\[(?<key>[a-z_]+)\]$/u;

export function formField(schema: FieldSchema, name: string): FormField | null {
  if (name.startsWith("audio.")) return among(audioFields.shape, "audio", name.slice("audio.".length));
  const { owner, key } = BRACKETED.exec(name)?.groups ?? {};
  if (owner === undefined || key === undefined) return among(schema.shape, null, name);
  const type = among(schema.shape, null, owner)?.type;
  return type === undefined ? null : among(membersOf(type), owner, key);
}

function among(shape: z.core.$ZodShape, owner: string | null, key: string): FormField | null {
  const type = Object.hasOwn(shape, key) ? shape[key] : undefined;
  return type === undefined ? null : { owner, key, type };
}

/** Of the one shape of it that is an object, where there is one. */
function membersOf(type: z.core.$ZodType): z.core.$ZodShape {
  const { def } = type as z.ZodOptional | z.ZodUnion | z.ZodObject;
  switch (def.type) {
    case "optional":
      return membersOf(def.innerType);
    case "union":
      return Object.fromEntries(def.options.flatMap((option) => Object.entries(membersOf(option))));
    case "object":
      return def.shape;
    default:
      return {};
  }
}
