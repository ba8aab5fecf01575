// A field that fails validation, as FastAPI tells of it: several of the servers played here are written in it.
import { jsonAnswer, type WireAnswer } from "./wire.ts";

export const invalidField = (name: string, message: string): WireAnswer =>
  jsonAnswer(422, { detail: [{ type: "value_error", loc: ["body", name], msg: message }] });
