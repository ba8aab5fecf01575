// Finds the schema field that a form field's name refers to: a field of the endpoint, a dotted member of `audio`, or an object's member in brackets,
// as OpenAI's client writes `chunking_strategy[type]` [request-body.form-members].
import type { z } from "zod";
import { audioFields } from "../../../contract/transcription/transcription-fields.ts";
import type { FieldSchema } from "../fields.ts";

export interface FormField {
  /** The object that the field is a member of. Null: none. */
  readonly owner: string | null;
  readonly key: string;
  readonly type: z.core.$ZodType;
}

const BRACKETED = /^(?<owner>[a-z_]+)\[(?<key>[a-z_]+)\]$/u;

export function formField(schema: FieldSchema, name: string): FormField | null {
  if (name.startsWith("audio.")) return fieldIn(audioFields.shape, "audio", name.slice("audio.".length));
  const { owner, key } = BRACKETED.exec(name)?.groups ?? {};
  if (owner === undefined || key === undefined) return fieldIn(schema.shape, null, name);
  const type = fieldIn(schema.shape, null, owner)?.type;
  return type === undefined ? null : fieldIn(membersOf(type), owner, key);
}

function fieldIn(shape: z.core.$ZodShape, owner: string | null, key: string): FormField | null {
  const type = Object.hasOwn(shape, key) ? shape[key] : undefined;
  return type === undefined ? null : { owner, key, type };
}

/** The members of the type, or of its object variants in a union. */
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
