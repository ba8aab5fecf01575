// The verdict over one answer: what was expected of it, and what its document says that such an answer is.
import type { Operation } from "./document.ts";
import type { Answer } from "./send-request.ts";
import type { Trial } from "./trial.ts";
import type { Validators } from "./validators.ts";

export function judge(
  operation: Operation,
  { request, expected }: Trial,
  answer: Answer,
  validators: Validators,
): readonly string[] {
  const faults: string[] = [];
  const { status, headers } = answer;
  const isHead = request.method === "HEAD";
  const [mediaType = ""] = String(headers["content-type"] ?? "").split(";");
  const code = isHead || !isJson(answer) ? null : codeOf(answer);
  if (!/^req_[0-9a-z]{26}$/u.test(String(headers["x-request-id"]))) faults.push(`${status} without a request id`);
  // That a provider will not have something its own rules forbid is an answer; every other failure here is ours.
  if (status === 500 || ((status === 502 || status === 504) && code !== "PROVIDER_REJECTED"))
    faults.push(`${status} ${code ?? ""}`);
  if (status >= 400) faults.push(...retryFaults(answer));
  if (status === 401 && headers["www-authenticate"] !== "Bearer") faults.push("401 without WWW-Authenticate");
  switch (expected.kind) {
    case "no endpoint":
      // Judged after the head: an unknown path with no key is 404 all the same.
      if (![404, 405, 400].includes(status)) faults.push(`${status} at a path that the document does not have`);
      return faults;
    case "method": {
      const listed = String(headers["allow"] ?? "")
        .split(", ")
        .toSorted();
      if (status !== 405) faults.push(`${status} instead of 405`);
      else if (listed.join() !== expected.allowed.toSorted().join())
        faults.push(`Allow says ${listed.join()}, the document ${expected.allowed.join()}`);
      return faults;
    }
    case "status":
      if (!expected.statuses.includes(status))
        faults.push(`${status} ${code ?? ""} instead of ${expected.statuses.join(" or ")}`);
      break;
    case "refused":
      if (status < 400) faults.push(`taken with ${status}`);
      break;
    case "head":
      if (answer.text !== "") faults.push("a body to HEAD");
      return operation.responses[String(status)] === undefined ? [...faults, `${status} is not documented`] : faults;
    case "documented":
      break;
  }
  return [...faults, ...undocumented(operation, answer, mediaType, code, validators)];
}

function undocumented(
  operation: Operation,
  answer: Answer,
  mediaType: string,
  code: string | null,
  validators: Validators,
): readonly string[] {
  const response = operation.responses[String(answer.status)];
  if (response === undefined) return [`${answer.status} ${code ?? ""} is not documented`];
  if (code !== null && !response.description.includes(`\`${code}\``))
    return [`${code} is not documented at ${answer.status}`];
  const { content = {} } = response;
  if (Object.keys(content).length === 0) return answer.text === "" ? [] : ["a body where none is documented"];
  if (content[mediaType] === undefined) return [`${answer.status} as ${mediaType}, which is not documented`];
  const bodies = bodiesIn(answer.text, mediaType, content[mediaType].schema.type === "string");
  const bad = bodies
    .map((body) => validators.judge(operation, answer.status, mediaType, body))
    .find((fault) => fault !== null);
  return bad === undefined ? [] : [`the body of ${answer.status} is not as documented: ${bad}`];
}

/** What the schema is about: the JSON, the text, or the data of each event. */
function bodiesIn(text: string, mediaType: string, isText: boolean): readonly unknown[] {
  if (isText) return [text];
  if (mediaType !== "text/event-stream") return [JSON.parse(text)];
  return [...text.matchAll(/^data: ?(.+)$/gmu)].map(([, data = ""]) => JSON.parse(data) as unknown);
}

function retryFaults({ headers, text, status }: Answer): readonly string[] {
  const says = headers["x-should-retry"];
  if (says !== "true" && says !== "false") return [`${status} without X-Should-Retry`];
  if ((headers["retry-after"] !== undefined) !== (says === "true"))
    return [`Retry-After and X-Should-Retry: ${says} disagree`];
  const body = /"retryable":(true|false)/u.exec(text)?.[1];
  return body === undefined || body === says ? [] : ["the body says otherwise about a retry"];
}

export function isJson({ headers }: Answer): boolean {
  return String(headers["content-type"]).includes("json");
}

function codeOf({ status, text }: Answer): string | null {
  if (status < 400) return null;
  const body = JSON.parse(text) as { readonly code?: string; readonly error?: { readonly code: string } };
  return body.error?.code ?? body.code ?? null;
}
