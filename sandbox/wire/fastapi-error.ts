// Builds FastAPI's validation error for one field, because several simulated servers are written in it.
import { jsonAnswer, type WireAnswer } from "./wire.ts";

export const invalidField = (name: string, message: string): WireAnswer =>
  jsonAnswer(422, { detail: [{ type: "value_error", loc: ["body", name], msg: message }] });
