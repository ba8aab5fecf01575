// Validates a Gemini key, on all endpoints: an invalid key is a 400.
import { googleError, googleErrorInfo } from "./google-errors.ts";
import { valueOf, type WireAnswer, type WireInput } from "../wire/wire.ts";

export function findWrongGeminiKey({ headers, query }: Pick<WireInput, "headers" | "query">): WireAnswer | null {
  const header = headers["x-goog-api-key"];
  const key = typeof header === "string" ? header : valueOf(query, "key");
  if (key === null || key === "") {
    return googleError(
      403,
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    );
  }
  if (key !== "invalid") return null;
  return googleError(400, "API key not valid. Please pass a valid API key.", [googleErrorInfo("API_KEY_INVALID")]);
}
