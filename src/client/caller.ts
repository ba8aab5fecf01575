// The calls of a client by what they are: reading, paid for, or streamed.
import { type AnswerPromise, answerPromise } from "./answer-promise.ts";
import { type AnswerStream, answerStream, type StreamedEvent } from "./answer-stream.ts";
import { type Call, callGateway, type RequestBody } from "./call.ts";
import type { CallOptions, ClientConfiguration, PaidCallOptions } from "./configuration.ts";
import { PatchbayError } from "./errors.ts";
import { unexpected } from "./read-refusal.ts";
import { uniqueText } from "./unique-text.ts";

type MakeBody = () => RequestBody | Promise<RequestBody>;
type Question = Pick<Call, "path" | "options"> & Partial<Call>;

/** What costs nothing, and may be done again. */
export function ask<T>(configuration: ClientConfiguration, question: Question): AnswerPromise<T> {
  return answerPromise(callGateway(configuration, asking(question), readJson<T>));
}

export function askText(configuration: ClientConfiguration, question: Question): AnswerPromise<string> {
  const call = asking({ ...question, accept: "*/*" });
  return answerPromise(callGateway(configuration, call, (response) => response.text()));
}

/** What may be paid for, under one key for all tries. */
export function pay<T>(
  configuration: ClientConfiguration,
  path: string,
  makeBody: MakeBody,
  { idempotencyKey = uniqueText(), ...options }: PaidCallOptions,
): AnswerPromise<T> {
  const answered = async () => {
    const call = { method: "POST", path, idempotencyKey, isPaidEachTime: idempotencyKey === null, options } as const;
    return callGateway(configuration, { ...call, body: await makeBody() }, readJson<T>);
  };
  return answerPromise(answered());
}

/** What is paid for each time: a stream takes no key. */
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

/** Of what is given; empty where nothing is. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  return [...query].length === 0 ? "" : `?${query.toString()}`;
}

function asking(question: Question): Call {
  return { method: "GET", idempotencyKey: null, ...question };
}

/** What a gateway answers is what its contract says. */
async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new PatchbayError({ ...unexpected(response), status: response.status, retryable: false, cause });
  }
}
