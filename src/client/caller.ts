// The client's three kinds of calls: free reads, paid calls, and streams.
import { type AnswerPromise, answerPromise } from "./answer-promise.ts";
import { type AnswerStream, answerStream, type StreamedEvent } from "./answer-stream.ts";
import { type Call, callGateway, type RequestBody } from "./call.ts";
import type { CallOptions, ClientConfiguration, PaidCallOptions } from "./configuration.ts";
import { PatchbayError } from "./errors.ts";
import { unexpectedReply } from "./read-refusal.ts";
import { uniqueText } from "./unique-text.ts";

type MakeBody = () => RequestBody | Promise<RequestBody>;
type Question = Pick<Call, "path" | "options"> & Partial<Call>;

/** Calls that cost nothing and may be repeated. */
export function ask<T>(configuration: ClientConfiguration, question: Question): AnswerPromise<T> {
  return answerPromise(callGateway(configuration, asking(question), readJson<T>));
}

export function askText(configuration: ClientConfiguration, question: Question): AnswerPromise<string> {
  const call = asking({ ...question, accept: "*/*" });
  return answerPromise(callGateway(configuration, call, (response) => response.text()));
}

/** Calls that may be billed, with one idempotency key for all tries. */
export function callBilled<T>(
  configuration: ClientConfiguration,
  path: string,
  makeBody: MakeBody,
  { idempotencyKey = uniqueText(), ...options }: PaidCallOptions,
): AnswerPromise<T> {
  const send = async () => {
    const call = { method: "POST", path, idempotencyKey, isPaidEachTime: idempotencyKey === null, options } as const;
    return callGateway(configuration, { ...call, body: await makeBody() }, readJson<T>);
  };
  return answerPromise(send());
}

/** Streams, which are billed each time because they accept no idempotency key. */
export function stream<Event extends StreamedEvent>(
  configuration: ClientConfiguration,
  path: string,
  makeBody: MakeBody,
  completed: Event["event"],
  options: CallOptions,
): AnswerStream<Event> {
  const call = { method: "POST", path, accept: "text/event-stream, application/json", options } as const;
  const makeCall = async (): Promise<Call> => ({
    ...call,
    body: await makeBody(),
    idempotencyKey: null,
    isPaidEachTime: true,
  });
  return answerStream(configuration, makeCall, completed);
}

export function jsonBody(document: unknown): RequestBody {
  return { contentType: "application/json", body: JSON.stringify(document) };
}

/** Query string of the defined fields. Empty if there are none. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  return [...query].length === 0 ? "" : `?${query.toString()}`;
}

function asking(question: Question): Call {
  return { method: "GET", idempotencyKey: null, ...question };
}

/** Not validated: the gateway follows its contract. */
async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new PatchbayError({ ...unexpectedReply(response), status: response.status, retryable: false, cause });
  }
}
