// Builds OpenAI's error envelope and response headers.
import { jsonAnswer, type WireAnswer } from "../wire/wire.ts";

export interface OpenAiFault {
  readonly message: string;
  readonly type?: string;
  readonly param?: string | null;
  readonly code?: string | null;
}

const REQUEST_LIMIT = 500;

export const openAiHeaders = (requestId: string): Record<string, string> => ({
  "x-request-id": `req_${requestId.replaceAll("-", "")}`,
  "openai-version": "2020-10-01",
  "openai-organization": "sandbox",
  "openai-processing-ms": "1",
  "x-ratelimit-limit-requests": String(REQUEST_LIMIT),
  "x-ratelimit-remaining-requests": String(REQUEST_LIMIT - 1),
  "x-ratelimit-reset-requests": "120ms",
});

export function openAiError(status: number, fault: OpenAiFault, requestId: string): WireAnswer {
  const { message, type = "invalid_request_error", param = null, code = null } = fault;
  return jsonAnswer(status, { error: { message, type, param, code } }, openAiHeaders(requestId));
}

export const invalidKey = (key: string): OpenAiFault => ({
  message: `Incorrect API key provided: ${key.slice(0, 4)}****. You can find your API key at https://platform.openai.com/account/api-keys.`,
  code: "invalid_api_key",
});
export const missingKey: OpenAiFault = {
  message:
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
  code: "invalid_api_key",
};
/** The wording is that of the years before 2026. The code is what counts. */
export const shutDown = (model: string): OpenAiFault => ({
  message: `The model \`${model}\` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations`,
  code: "model_not_found",
});
/** Groq's. */
export const decommissioned = (model: string): OpenAiFault => ({
  message: `The model \`${model}\` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.`,
  code: "model_decommissioned",
});
export const tooLarge = (limit: number, received: number): OpenAiFault => ({
  message: `Maximum content size limit (${limit}) exceeded (${received} bytes read)`,
  type: "server_error",
});

export function openAiErrorForStatus(status: number, requestId: string): WireAnswer {
  return openAiError(status, faultFor(status), requestId);
}

function faultFor(status: number): OpenAiFault {
  switch (status) {
    case 400:
      return { message: "Audio file might be corrupted or unsupported", param: "file", code: "invalid_value" };
    case 401:
      return invalidKey("sk-x");
    case 403:
      return { message: "Project does not have access to this model.", code: "model_not_found" };
    case 404:
      return { message: "The model does not exist or you do not have access to it.", code: "model_not_found" };
    case 413:
      return tooLarge(26_214_400, 26_300_000);
    case 429:
      return {
        message: "Rate limit reached for requests. Please try again later.",
        type: "requests",
        code: "rate_limit_exceeded",
      };
    default:
      return status >= 500
        ? { message: "The server had an error while processing your request. Sorry about that!", type: "server_error" }
        : { message: "The request could not be processed." };
  }
}
